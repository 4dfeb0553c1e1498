# SPDX-License-Identifier: MIT
$(eval $(call unit_test,model,$(wildcard tests/unit/model/*.c) $(vdev_model_sources)))
