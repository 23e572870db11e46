#!/usr/bin/env bash
# long
# Releases published to a bucket: moto keeps the objects, and before it s3_judge.py takes only what Amazon S3 would take, by a signature
# that botocore computes. Large files in parts, wrong keys, requests that fail one by one, answers without end, and kills.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$E2E_TMP" && rm -rf ./*
# shellcheck source=tests/e2e/release.bash
. "$top/tests/e2e/release.bash"
bash "$top/tests/oracle/venv.sh" "$ROCSMITH_HOME/oracles" 2>log || {
	echo 'skip a bucket: no venv with pip'
	exit 0
}
python=$ROCSMITH_HOME/oracles/bin/python
moto=python3
has_moto() { "$moto" -c 'import botocore.auth, flask, moto.server' 2>>log; }
if ! has_moto && [ "${ROCSMITH_RELEASE_ALL-}" ]; then
	bash "$top/tests/oracle/venv.sh" "$ROCSMITH_HOME/oracles-moto" 'moto[server]' 2>>log
	moto=$ROCSMITH_HOME/oracles-moto/bin/python
fi
has_moto || {
	echo 'skip a bucket: no moto_server'
	exit 0
}
listen "$moto" -m moto.server -H 127.0.0.1 -p PORT
store=127.0.0.1:$port
listen "$moto" "$top/tests/e2e/s3_judge.py" PORT "$store" AK 's3cr/t"+' judge.log
export AWS_ENDPOINT_URL=http://127.0.0.1:$port AWS_ACCESS_KEY_ID=AK AWS_SECRET_ACCESS_KEY='s3cr/t"+' AWS_REGION=eu-west-1
unset AWS_ENDPOINT_URL_S3 AWS_DEFAULT_REGION AWS_SESSION_TOKEN
everybody='{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::wheels/*"}]}'
curl -s -X PUT "http://$store/wheels" >out && curl -s -X PUT -H 'Content-Type: application/json' --data-binary "$everybody" "http://$store/wheels?policy" >>out ||
	no 'a bucket is made'
bucket=$AWS_ENDPOINT_URL/wheels/rocm/simple/
# Two streams: one with a set, which has two wheels of 6 MB and versions with '+' and '!', and one with the next set as well.
make in 7.13.0rc2 --gpu gfx1100 --kib 6000
make later 7.13.0 --gpu gfx1100
(cd "$top/tests/e2e" && python3 -c 'import sys; from amd_index import wheel; wheel(sys.argv[1], "odd", "1!2.0+local.7", {"odd.py": ""}, "py3-none-any")' "$E2E_TMP/in")
rs stage in --to one/dev -q >out 2>log && rs promote one/dev -q >out 2>log && cp -a one two || no 'a stream'
rs stage later --to two/dev -q >out 2>log && rs promote two/dev -q >out 2>log || no 'the next one'
put=(publish --to s3://wheels/rocm --part-size 5)
unfinished() { curl -s "http://$store/wheels?uploads=" | grep -c '<Upload>'; }

check 'a bucket is published to, and read back' rs "${put[@]}" one/dev --python "$python"
[ "$(sees "$bucket" 7.13.0rc2)" = 7.13.0rc2 ] && ok 'pip sees it in the bucket' || no 'pip sees it in the bucket'
grep -q 'signed PUT .*partNumber=2' judge.log && grep -q '%21.*%2B' judge.log && ! grep -q refused judge.log &&
	ok "each of $(grep -c signed judge.log) requests is signed as botocore signs it, also those of parts" || no 'each request is signed as botocore signs it'
python3 - "$AWS_ENDPOINT_URL/wheels/rocm" one/files >out 2>log <<'PY' && ok 'the bucket has the bytes of each wheel' || no 'the bucket has the bytes of each wheel'
import glob, hashlib, sys, urllib.parse, urllib.request
n = 0
for path in glob.glob(sys.argv[2] + "/*/*.whl"):
    sha256, name = path.split("/")[-2:]
    got = urllib.request.urlopen(f"{sys.argv[1]}/files/{sha256}/{urllib.parse.quote(name, safe='')}")
    assert hashlib.sha256(got.read()).hexdigest() == sha256 == got.headers["x-amz-meta-sha256"], name
    n += 1
assert n == 8, n
PY
check 'a second run sends nothing to the bucket' grep -q 'sent 0 of' <(rs "${put[@]}" one/dev --unread 2>log)
AWS_SECRET_ACCESS_KEY=wr0ng refuses 'a wrong secret' SignatureDoesNotMatch rs "${put[@]}" two/dev --unread
grep -q 'hint: do AWS_ACCESS_KEY_ID' log && ! grep -q wr0ng log && ok 'it is told how to mend it' || no 'it is told how to mend it'
AWS_ACCESS_KEY_ID=other refuses 'a key that nobody has' InvalidAccessKeyId rs "${put[@]}" two/dev --unread
refuses 'a part that is too small' 'parts of 5 to' rs publish one/dev --to s3://wheels/rocm --part-size 4
refuses 'a bucket that is not there' 'answers 404' rs publish one/dev --to s3://elsewhere/rocm
rs publish one/dev --to s3://elsewhere/rocm -v --trace trace.json >>out 2>>log
if grep -qF 's3cr' out log trace.json judge.log; then no 'no message, trace or log has the secret'; else ok 'no message, trace or log has the secret'; fi
cp -a one changed
python3 - changed/files <<'PY'
import glob, sys
for path in glob.glob(sys.argv[1] + "/*/amd_torch_device*.whl") + glob.glob(sys.argv[1] + "/*/torch-*.whl"):
    data = bytearray(open(path, "rb").read())
    data[len(data) // 2] ^= 1
    open(path, "wb").write(data)
PY
refuses 'a wheel that was changed in the store' 'was changed' rs publish changed/dev --to s3://wheels/changed --part-size 5 --unread
touch judge.log.endless
refuses 'an answer without end' 'gives more than' timeout 100 "$ROCSMITH" "${put[@]}" one/dev --unread
rm judge.log.endless

# ---- parts that are not all sent ----
curl -s -X PUT "http://$store/parts" >out
first=$(grep -n 'partNumber=2' judge.log | head -n 1 | cut -d: -f1)
echo "$first 400" >judge.log.fail
refuses 'a part that the store does not take' 'answers 400' rs publish one/dev --to s3://parts/rocm --part-size 5 --unread
[ "$(curl -s "http://$store/parts?uploads=" | grep -c '<Upload>')" = 0 ] && ok 'its upload is ended' || no 'its upload is ended'
for n in 1 2 fresh; do # as killed runs leave them; only those of this place are ended, and none that began today
	curl -s -X POST "http://$store/parts/rocm/files/%2B/$n?uploads=" >out
	curl -s -X POST "http://$store/parts/other/$n?uploads=" >out
done
check 'the next run goes on' rs publish one/dev --to s3://parts/rocm --part-size 5 --unread
curl -s "http://$store/parts?uploads=" >out
[ "$(grep -o '<Key>[^<]*' out | sort | xargs)" = '<Key>other/1 <Key>other/2 <Key>other/fresh <Key>rocm/files/+/fresh' ] && ok 'and ends what killed runs left there' || no 'and ends what killed runs left there'

# ---- each request fails once ----
# seen.py: what an index in a bucket has of torch: each page is whole, and so are its files
cat >seen.py <<'PY'
import hashlib, re, sys, urllib.parse, urllib.request
index, *versions = sys.argv[1:]
get = lambda url: urllib.request.urlopen(url).read()
have = {}
for project in ("torch", "torchvision", "amd-torch-device-gfx1100", "rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-device-gfx1100"):
    page = f"{index}{project}/"
    for url, sha256 in re.findall(r'href="([^"#]+)#sha256=([0-9a-f]{64})"', get(page).decode()):
        assert hashlib.sha256(get(urllib.parse.urljoin(page, url))).hexdigest() == sha256, url
        have.setdefault(project, set()).add(re.search("7.13.0(rc2)?(?=-)", urllib.parse.unquote(url))[0])
# whoever takes the newest torchvision finds all that it requires
newest = sorted(have["torchvision"], key=lambda v: "rc" not in v)[-1]
assert newest in versions and all(newest in have[p] for p in have), (newest, have)
PY
old() { rs publish one/dev --to s3://wheels/rocm --unread -q >out 2>log || no 'the set before'; }
"$ROCSMITH" publish two/dev --to s3://wheels/rocm --unread -q >out 2>log && old
before=$(grep -c ' signed ' judge.log)
rs publish two/dev --to s3://wheels/rocm --unread -q >out 2>log
calls=$(($(grep -c ' signed ' judge.log) - before))
points=${ROCSMITH_FAULT_POINTS:-5}
[ "$points" -gt 0 ] && [ "$points" -lt "$calls" ] || points=$calls
failed=0
for ((i = 0; i < points; i++)); do
	old
	n=$((1 + i * calls / points))
	for status in 400 0; do
		echo "$n $status" >judge.log.fail
		"$ROCSMITH" publish two/dev --to s3://wheels/rocm --unread -q >out 2>log && got=0 || got=$?
		rm -f judge.log.fail
		[ $got = 0 ] || [ "$(grep -c '^error:' log)" = 1 ] || no "request $n: status $got"
		[ $got = 0 ] || failed=$((failed + 1))
		python3 seen.py "$bucket" 7.13.0rc2 7.13.0 >out 2>log || no "request $n answered with $status: the index is whole"
	done
	rs publish two/dev --to s3://wheels/rocm --unread -q >out 2>log || no "request $n: the next run"
	python3 seen.py "$bucket" 7.13.0 >out 2>log || no "request $n: the next run gets there"
done
[ $failed -gt 0 ] && [ $bad = 0 ] && ok "$points of $calls requests failed in turn ($failed runs with an error): the index is whole, and the next run goes on" ||
	no "$points of $calls requests failed in turn ($failed runs with an error)"
[ "$(unfinished)" = 0 ] && ok 'no upload is left unfinished' || no 'no upload is left unfinished'
[ "${ROCSMITH_RELEASE_ALL-}" ] || exit $bad
export ROCSMITH_FAULT_JOBS=1
kill_it 'publish to a bucket' "$ROCSMITH publish one/dev --to s3://wheels/rocm --unread -q" "$bucket" '' publish two/dev --to s3://wheels/rocm --unread -q
kill_it 'a rollback in a bucket' "$ROCSMITH publish two/dev --to s3://wheels/rocm --unread -q" "$bucket" '' publish one/dev --to s3://wheels/rocm --unread -q
[ "$(sees "$bucket" 7.13.0rc2)" = 7.13.0rc2 ] && ok 'the bucket has what was published last' || no 'the bucket has what was published last'
rs publish one/dev --to s3://wheels/rocm --unread -q >out 2>log && [ "$(unfinished)" = 0 ] && ok 'no upload is left unfinished' || no 'no upload is left unfinished'
exit $bad
