# SPDX-License-Identifier: MIT

$(eval $(call program,trn-neff,$(addprefix tools/trn-neff/,main.c asm.c disasm.c info.c instruction.c unpack.c),$(neff_packages),$(LIBTRN)))
