# SPDX-License-Identifier: MIT
# libtrn: programs of this tree link the static one, LIBTRN, with package libdrm; those that use
# trn_neff.h, also with neff_packages.

neff_packages := libarchive jansson libcrypto
LIBTRN := $(O)/lib/libtrn.a
libtrn_shared := $(O)/lib/libtrn.so.0
libtrn_sources := $(addprefix lib/,box.c buffer.c context.c device.c enumerate.c error.c failures.c fence.c handle.c \
	packet.c pin.c process.c queue.c queue_error.c queue_kernel.c queue_user.c range.c refusal.c \
	ring.c stage.c timeline.c transfer.c va.c \
	$(addprefix builder/,builder.c control.c element.c operand.c stream.c tensor.c) \
	$(addprefix neff/,archive.c check.c definition.c description.c fail.c header.c json.c npy.c \
	read.c text.c types.c write.c))
libtrn_objects := $(call objects,$(libtrn_sources))
libtrn_version := $(shell sed -n 's/^.define LIBTRN_VERSION "\(.*\)"/\1/p' include/trn/trn.h)
PREFIX ?= /usr/local

$(LIBTRN): $(libtrn_objects)
	@mkdir -p $(@D)
	@echo "  AR      $@"
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(libtrn_shared): $(libtrn_objects) lib/libtrn.map
	@mkdir -p $(@D)
	@echo "  LD      $@"
	$(Q)$(CC) $(BUILD_LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,--version-script=lib/libtrn.map \
		$(if $(SAN),,-Wl,-z,defs) -o $@ $(libtrn_objects) $$(pkg-config --libs libdrm $(neff_packages))

$(O)/lib/libtrn.so: $(libtrn_shared)
	$(Q)ln -sf $(<F) $@

$(O)/lib/pkgconfig/libtrn.pc: lib/libtrn.pc.in include/trn/trn.h
	@mkdir -p $(@D)
	$(Q)sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(libtrn_version)|' $< > $@

all_objects += $(libtrn_objects)
libraries += $(LIBTRN) $(libtrn_shared) $(O)/lib/libtrn.so $(O)/lib/pkgconfig/libtrn.pc
