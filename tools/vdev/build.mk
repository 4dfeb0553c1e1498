# SPDX-License-Identifier: MIT
vdev_pci_sources := tools/vdev/pci/config.c

vdev_server_sources := $(vdev_pci_sources) tools/vdev/log.c $(addprefix tools/vdev/vfio-user/, \
	dma.c \
	hotplug.c \
	interrupts.c \
	remote.c \
	requests.c \
	server.c \
	shared_memory.c \
	transport.c \
	version.c)

$(eval $(call program,trn-vdev, \
	tools/vdev/main.c tools/vdev/options.c tools/vdev/control.c tools/vdev/faults.c \
	tools/vdev/memcpy_time.c \
	$(vdev_server_sources) $(vdev_model_sources), \
	jansson $(vdev_model_packages),-lm))
