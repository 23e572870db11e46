/* TOML documents from bytes; see fuzz_node.h. */
#include "fuzz_node.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_document(toml_parse, data, size);
	return 0;
}
