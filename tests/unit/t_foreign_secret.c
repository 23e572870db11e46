/* Which variables are withheld from a build of foreign code: foreign/secret.c. */
#include "test.h"

#include "foreign/foreign_int.h"

static void names_tell_secrets(void **state)
{
	(void)state;
	static const char *const secret[] = {"DB_PASS", "DBPASS", "SSHPASS", "MYSQL_PWD",
		"PGPASSWORD", "PGPASSFILE", "SIGNING_KEY", "SSH_DEPLOYKEY", "STRIPE_KEY", "KEY",
		"AWS_REGION", "SENTRY_DSN", "CI_JOB_JWT", "CI_JOB_JWT_V2", "MYJWT", "GH_PAT",
		"HF_TOKEN", "token", "dbPass", "myApiKey", "UV_PUBLISH_TOKEN",
		"UV_INDEX_CORP_USERNAME", "GIT_CONFIG_VALUE_0", "GIT_CONFIG_PARAMETERS",
		"GIT_ASKPASS", "HTTP_AUTH", "BASIC-AUTH", "SESSION_COOKIE", "NPM_CONFIG__AUTH",
		"MY.CREDS", "SLACK_WEBHOOK_URL", "TF_VAR_db", "NETRC",
		"POETRY_HTTP_BASIC_X_USERNAME", "RESTIC_PASSWORD_FILE", "SECRET", "VAULT_ADDR"};
	static const char *const plain[] = {"CFLAGS", "CC", "PYTORCH_ROCM_ARCH",
		"CMAKE_PREFIX_PATH", "UV_CACHE_DIR", "UV_INDEX_URL", "PIP_INDEX_URL",
		"TOKENIZERS_PARALLELISM", "GIT_AUTHOR_NAME", "AUTHOR", "KEYBOARD", "MONKEY",
		"COMPASS_DIR", "BYPASS_CHECK", "PATTERN", "SALTED_TEST", "HF_HOME",
		"OMP_NUM_THREADS", "I_MPI_PIN", "MAX_JOBS", "SCCACHE_S3_KEY_PREFIX", "PASSES",
		"SKIP_CUDA_BUILD", "https_proxy", "", "_", "A__B"};
	for (size_t i = 0; i < sizeof(secret) / sizeof(*secret); i++)
		if (!foreign_is_secret(str_from(secret[i]), S("1")))
			fail_msg("'%s' is passed", secret[i]);
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		if (foreign_is_secret(str_from(plain[i]), S("1")))
			fail_msg("'%s' is withheld", plain[i]);
}

static void values_tell_secrets(void **state)
{
	(void)state;
	static const char *const secret[] = {"https://user:pw@host/simple", "http://:pw@proxy:3128",
		"https://sometoken@host/x", "redis://:p/w@host:6379/0", "postgres://u:p@ss@host/db",
		"-f https://a/ --extra https://u:p@b/", "git+ssh://u:p@host/x",
		"ssh://git:p@host/x", "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA",
		"x ghp_abcdefghijkl0123456789", "github_pat_11ABCDEFG0abcdefghij",
		"hf_abcdefghijklmnopqrst", "glpat-abcdefghij_0123456", "AKIAIOSFODNN7EXAMPLE",
		"sk-proj-abcdefghijklmno", "xoxb-1234-5678-abcdef",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
		"Authorization: Basic eA==", "Server=db;Uid=u;Password=p", "host=db password=p"};
	static const char *const plain[] = {"https://pypi.org/simple", "http://proxy:3128",
		"http://proxy:3128/", "https://host:8080/x@v2", "ssh://git@github.com/a/b",
		"git+https://git@github.com/a/b", "git+https://github.com/a/b@v1.0", "a@b",
		"sk-learn", "/opt/hf_transformers/lib", "hf_transfer", "-O2 -g",
		"mask-abcdefghijklmnopqr", "", "://", "https://", "x://@", "/usr/lib:/opt/lib",
		"-DKEY=1"};
	for (size_t i = 0; i < sizeof(secret) / sizeof(*secret); i++)
		if (!foreign_is_secret(S("OPTION"), str_from(secret[i])))
			fail_msg("'%s' is passed", secret[i]);
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		if (foreign_is_secret(S("OPTION"), str_from(plain[i])))
			fail_msg("'%s' is withheld", plain[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_tell_secrets),
		cmocka_unit_test(values_tell_secrets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
