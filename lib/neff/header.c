/* SPDX-License-Identifier: MIT */
#include <endian.h>
#include <openssl/evp.h>
#include <string.h>

#include "neff.h"

#define PKG_VERSION_MD5	   1
#define PKG_VERSION_SHA256 2
#define NEFF_VERSION_MAJOR 1
#define NEFF_VERSION_MINOR 0
#define FEATURE_TRN_ISA	   (UINT64_C(1) << 63)
#define CORES_PER_LOGICAL  1

/* Numbers are little-endian. */
struct file_header {
	uint64_t pkg_version;
	uint64_t header_size;
	uint64_t data_size;
	uint64_t neff_version_major;
	uint64_t neff_version_minor;
	char build_version[128];
	uint32_t num_tpb;
	uint8_t hash[32];
	uint8_t uuid[16];
	char name[256];
	uint32_t requested_tpb_count;
	uint8_t tpb_per_node[64];
	uint64_t feature_bits;
	uint32_t lnc_size;
	uint8_t pad[468];
};

_Static_assert(sizeof(struct file_header) == NEFF_HEADER_SIZE, "header is 1024 bytes");
_Static_assert(offsetof(struct file_header, feature_bits) == 544, "no hidden padding");
_Static_assert(offsetof(struct file_header, pad) == 556, "no hidden padding");

#define LLU(value) ((unsigned long long)(value))

static int hash_content(const struct neff_place *place, const uint8_t *data, uint64_t size,
			uint8_t hash[32])
{
	if (!EVP_Digest(data, size, hash, NULL, EVP_sha256(), NULL))
		return neff_fail_memory(place);
	return 0;
}

/* RFC 9562, version 8: an id of its maker's own making. */
static void make_uuid(const uint8_t hash[32], uint8_t uuid[16])
{
	memcpy(uuid, hash, 16);
	uuid[6] = (uuid[6] & 0x0f) | 0x80;
	uuid[8] = (uuid[8] & 0x3f) | 0x80;
}

static bool is_text_field(const char *field, size_t size)
{
	size_t length = strnlen(field, size);

	return length < size && neff_is_text(field) && neff_is_zero(field + length, size - length);
}

static int check_versions(const struct neff_place *place, const struct file_header *header)
{
	uint64_t unknown, features = le64toh(header->feature_bits);

	if (le64toh(header->pkg_version) == PKG_VERSION_MD5)
		return neff_fail(place, NEFF_VERSION,
				 "pkg_version 1 has an MD5 hash, which proves nothing: write the "
				 "file anew with pkg_version 2");
	if (le64toh(header->pkg_version) != PKG_VERSION_SHA256)
		return neff_fail(place, NEFF_VERSION,
				 "pkg_version is %llu, this library reads 2: is it a .neff file?",
				 LLU(le64toh(header->pkg_version)));
	if (le64toh(header->header_size) != NEFF_HEADER_SIZE)
		return neff_fail(place, NEFF_VERSION, "header_size is %llu, this library reads %d",
				 LLU(le64toh(header->header_size)), NEFF_HEADER_SIZE);
	unknown = features & ~FEATURE_TRN_ISA;
	if (unknown)
		return neff_fail(place, NEFF_FEATURES,
				 "features 0x%llx not supported: the file needs a newer libtrn, or "
				 "is for other hardware",
				 LLU(unknown));
	if (!(features & FEATURE_TRN_ISA))
		return neff_fail(place, NEFF_FEATURES,
				 "feature_bits lacks 0x%llx: the file is for another instruction "
				 "set, compile the program for trn",
				 LLU(FEATURE_TRN_ISA));
	if (le64toh(header->neff_version_major) != NEFF_VERSION_MAJOR ||
	    le64toh(header->neff_version_minor) != NEFF_VERSION_MINOR)
		return neff_fail(place, NEFF_VERSION,
				 "neff_version is %llu.%llu, this library reads %d.%d",
				 LLU(le64toh(header->neff_version_major)),
				 LLU(le64toh(header->neff_version_minor)), NEFF_VERSION_MAJOR,
				 NEFF_VERSION_MINOR);
	return 0;
}

static int check_fields(const struct neff_place *place, const struct file_header *header)
{
	uint32_t cores = le32toh(header->num_tpb);

	if (!cores)
		return neff_fail(place, NEFF_HEADER, "num_tpb is 0, must be 1 or more");
	if (cores > TRN_NEFF_CORES_MAX)
		return neff_fail(place, NEFF_LIMIT, "num_tpb is %u, at most %d cores are possible",
				 cores, TRN_NEFF_CORES_MAX);
	if (le32toh(header->requested_tpb_count) != cores)
		return neff_fail(place, NEFF_HEADER,
				 "requested_tpb_count is %u, must be num_tpb, %u",
				 le32toh(header->requested_tpb_count), cores);
	if (header->tpb_per_node[0] != cores ||
	    !neff_is_zero(header->tpb_per_node + 1, sizeof(header->tpb_per_node) - 1))
		return neff_fail(
			place, NEFF_HEADER,
			"tpb_per_node must be num_tpb, %u, and zeros: programs are for one "
			"chip",
			cores);
	if (le32toh(header->lnc_size) != CORES_PER_LOGICAL)
		return neff_fail(place, NEFF_HEADER, "lnc_size is %u, must be %d",
				 le32toh(header->lnc_size), CORES_PER_LOGICAL);
	if (!is_text_field(header->build_version, sizeof(header->build_version)))
		return neff_fail(place, NEFF_HEADER,
				 "build_version must be UTF-8 without control characters, and "
				 "then zeros");
	if (!is_text_field(header->name, sizeof(header->name)))
		return neff_fail(place, NEFF_HEADER,
				 "name must be UTF-8 without control characters, and then zeros");
	if (!neff_is_zero(header->pad, sizeof(header->pad)))
		return neff_fail(place, NEFF_HEADER, "pad must be zeros");
	return 0;
}

static int check_content(const struct neff_place *place, const struct file_header *header,
			 const uint8_t *content, uint64_t size)
{
	uint64_t stated = le64toh(header->data_size);
	uint8_t hash[32], uuid[16];
	int error;

	if (stated > size)
		return neff_fail(
			place, NEFF_TRUNCATED,
			"%llu bytes follow the header, which says %llu: copy the file again",
			LLU(size), LLU(stated));
	if (stated < size)
		return neff_fail(
			place, NEFF_TRAILING,
			"%llu bytes follow the header, which says %llu: copy the file again",
			LLU(size), LLU(stated));
	error = hash_content(place, content, size, hash);
	if (error)
		return error;
	if (memcmp(hash, header->hash, sizeof(hash)))
		return neff_fail(place, NEFF_HASH,
				 "the content's SHA-256 is not the header's: the file is damaged, "
				 "copy it again");
	make_uuid(hash, uuid);
	if (memcmp(uuid, header->uuid, sizeof(uuid)))
		return neff_fail(
			place, NEFF_UUID,
			"the uuid is not made from the content's hash: write the file anew");
	return 0;
}

int neff_header_read(const struct neff_place *place, const uint8_t *file, uint64_t size,
		     struct neff_header *result)
{
	struct file_header header;
	int error;

	if (size < sizeof(header))
		return neff_fail(
			place, NEFF_TRUNCATED,
			"the file has %llu bytes, its header alone %d: is it a .neff file?",
			LLU(size), NEFF_HEADER_SIZE);
	memcpy(&header, file, sizeof(header));
	error = check_versions(place, &header);
	if (!error)
		error = check_fields(place, &header);
	if (!error)
		error = check_content(place, &header, file + sizeof(header), size - sizeof(header));
	if (error)
		return error;
	memcpy(result->build_version, header.build_version, sizeof(result->build_version));
	memcpy(result->name, header.name, sizeof(result->name));
	memcpy(result->uuid, header.uuid, sizeof(result->uuid));
	result->cores = le32toh(header.num_tpb);
	return 0;
}

int neff_header_write(const struct neff_place *place, const struct neff_header *fields,
		      uint8_t *file, uint64_t size)
{
	struct file_header header = {
		.pkg_version = htole64(PKG_VERSION_SHA256),
		.header_size = htole64(NEFF_HEADER_SIZE),
		.data_size = htole64(size - NEFF_HEADER_SIZE),
		.neff_version_major = htole64(NEFF_VERSION_MAJOR),
		.neff_version_minor = htole64(NEFF_VERSION_MINOR),
		.num_tpb = htole32(fields->cores),
		.requested_tpb_count = htole32(fields->cores),
		.tpb_per_node = { fields->cores },
		.feature_bits = htole64(FEATURE_TRN_ISA),
		.lnc_size = htole32(CORES_PER_LOGICAL),
	};
	int error;

	memcpy(header.build_version, fields->build_version, sizeof(header.build_version));
	memcpy(header.name, fields->name, sizeof(header.name));
	error = hash_content(place, file + NEFF_HEADER_SIZE, size - NEFF_HEADER_SIZE, header.hash);
	if (error)
		return error;
	make_uuid(header.hash, header.uuid);
	memcpy(file, &header, sizeof(header));
	return 0;
}
