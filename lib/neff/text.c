/* SPDX-License-Identifier: MIT */
#include "neff.h"

bool neff_is_zero(const void *memory, uint64_t size)
{
	const uint8_t *byte = memory;

	while (size && !*byte) {
		byte++;
		size--;
	}
	return !size;
}

bool neff_is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

/* Length of the UTF-8 sequence at @c, 0 if it is none. */
static size_t sequence_length(const unsigned char *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length, i;
	uint32_t code;

	if (*c < 0x80)
		return 1;
	if (*c < 0xc2 || *c > 0xf4)
		return 0;
	length = *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : 4;
	code = *c & (0x7f >> length);
	for (i = 1; i < length; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (c[i] & 0x3f);
	}
	if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return length;
}

bool neff_is_text(const char *text)
{
	size_t length;

	for (; *text; text += length) {
		length = sequence_length((const unsigned char *)text);
		if (!length || neff_is_control(*text))
			return false;
	}
	return true;
}
