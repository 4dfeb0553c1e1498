# SPDX-License-Identifier: MIT
vdev_test := tests/unit/vdev

$(eval $(call unit_test,vdev-config, \
	$(vdev_test)/test_config.c $(vdev_pci_sources)))

$(eval $(call unit_test,vdev-dma, \
	$(vdev_test)/test_dma.c \
	$(addprefix tools/vdev/vfio-user/, dma.c shared_memory.c)))

$(eval $(call unit_test,vdev-server, \
	$(addprefix $(vdev_test)/, main.c client.c fake_chip.c rig.c \
	test_session.c test_broken.c test_regions.c test_interrupts.c test_memory.c test_hotplug.c) \
	$(vdev_server_sources) tools/vdev/model/generations.c, \
	jansson))

$(eval $(call unit_test,vdev-fuzz, \
	$(addprefix $(vdev_test)/, test_fuzz.c client.c fake_chip.c rig.c) \
	$(vdev_server_sources) tools/vdev/model/generations.c, \
	jansson))

$(eval $(call unit_test,vdev-live, \
	$(addprefix $(vdev_test)/, test_live.c client.c rig.c) \
	$(vdev_server_sources) $(vdev_model_sources), \
	jansson $(vdev_model_packages),-lm))

$(eval $(call unit_test,vdev-control, \
	$(addprefix $(vdev_test)/, test_control.c client.c fake_chip.c rig.c) \
	$(addprefix tools/vdev/, control.c faults.c memcpy_time.c model/generations.c) \
	$(vdev_server_sources), \
	jansson))

$(eval $(call unit_test,vdev-options, \
	$(vdev_test)/test_options.c tools/vdev/options.c tools/vdev/model/generations.c))
