# SPDX-License-Identifier: Apache-2.0
"""The live page's server: who is let in, what is refused; results are those of the command."""
import http.client
import json
import os
import signal
import socket
import struct
import subprocess
import threading
import time
import unittest
import urllib.parse

from support import TAMIS, Case, pattern, png_bytes


def has_server():
    run = subprocess.run([TAMIS, "serve", "missing"], capture_output=True, check=False)
    return b"libmicrohttpd" not in run.stderr


@unittest.skipUnless(has_server(), "built without libmicrohttpd")
class Serve(Case):
    def setUp(self):
        super().setUp()
        self.tmp = self.path("temporary files in a folder whose name is not short")
        os.mkdir(self.tmp)
        os.mkdir(self.path("in"))
        self.write("in/a.png", png_bytes(200, 150, 3, pattern(200, 150, 3)))
        self.write("secret.png", self.read("in.png"))

    def start(self, *args, **more):
        surroundings = dict(os.environ, TAMIS_DEVICE="cpu", TMPDIR=self.tmp, **more)
        self.server = subprocess.Popen([TAMIS, "serve", *args], cwd=self.dir, env=surroundings,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.stop)
        url = urllib.parse.urlparse(self.server.stdout.readline().decode().strip())
        self.assertEqual(url.hostname, "127.0.0.1")
        self.port, self.token = url.port, url.path.strip("/")
        self.assertEqual(len(self.token), 32)

    def stop(self):
        if self.server.poll() is None:
            self.server.send_signal(signal.SIGINT)
        _, err = self.server.communicate(timeout=60)
        if self.server.returncode:
            print(err.decode("utf-8", "replace"))
        return self.server.returncode

    def ask(self, path, method="GET", body=None, token=None, **headers):
        """(status, headers, body); path begins behind the token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, "/" + (token or self.token) + path, body, headers)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def query(self, path, **arguments):
        return self.ask(path + "?" + urllib.parse.urlencode(arguments))

    def view(self, number, client="c", **more):
        wish = dict(id=0, client=client, number=number, level=0, x0=0, y0=0, x1=1, y1=1, chain="")
        return self.query("/view", **dict(wish, **more))

    def said(self, answer, status=200):
        self.assertEqual(answer[0], status, answer[2][:300])
        return json.loads(answer[2])

    def test_who_is_let_in(self):
        self.start("in")
        self.assertEqual(self.ask("/")[0], 200)
        wrong = ("0" * 32, self.token[:-1], self.token[:-1] + "x", self.token.upper() + "0", "x")
        for token in wrong:
            self.assertEqual(self.ask("/", token=token)[0], 403, token)
            self.assertNotIn(b"a.png", self.ask("/pictures", token=token)[2])
        for host in ("evil.example:%d" % self.port, "127.0.0.1", "127.0.0.1:1", ""):
            self.assertEqual(self.ask("/", Host=host)[0], 403, host)
        self.assertEqual(self.ask("/", Host="localhost:%d" % self.port)[0], 200)
        self.assertEqual(self.ask("/", Origin="http://evil.example")[0], 403)
        self.assertEqual(self.ask("/pictures", "DELETE")[0], 405)
        headers = self.ask("/")[1]
        self.assertIn("connect-src 'self'", headers["Content-Security-Policy"])
        self.assertEqual(headers["Referrer-Policy"], "no-referrer")

    def test_presets(self):
        """The page offers tamis's own and the user's, as filters with their values."""
        self.write("own", b"mine = @portrait,median=ksize=5 # for me\n")
        self.start("in", "--presets", "own")
        page = self.ask("/")[2].decode()
        data = json.loads(page.split('id="data">')[1].split("</script>")[0])
        found = {p["name"]: p for p in data["presets"]}
        self.assertEqual(found["mine"]["group"], "own")
        self.assertEqual([f["filter"] for f in found["mine"]["filters"]], ["bilateral", "median"])
        self.assertEqual(found["mine"]["filters"][1]["values"], {"ksize": "5"})
        self.assertIn("low_light", found)
        self.assertEqual(self.tamis("serve", "--presets", "missing", code=3).text, "")

    def test_paths(self):
        self.start("in")
        self.assertEqual([p["name"] for p in self.said(self.ask("/pictures"))], ["a.png"])
        for path in ("/../secret.png", "/%2e%2e/secret.png", "/in/a.png", "//etc/passwd",
                     "/view/..",
                     "/picture/0"):
            self.assertIn(self.ask(path)[0], (403, 404), path)
        for number in ("1", "-1", "", "0x0", "../secret.png", "99999999999999999999"):
            status = self.query("/picture", id=number)[0]
            self.assertIn(status, (400, 404), number)
        status, _, body = self.view(1, chain="convolve=kernel=@/etc/passwd")
        self.assertEqual(status, 422)
        self.assertNotIn(b"root:", body)

    def test_views_are_the_results(self):
        """The samples of a view are those that the command writes there."""
        self.start("in/a.png")
        self.tamis("run", "gaussian=sigma=2,unsharp", "in/a.png", "-o", "want.ppm")
        want = self.read("want.ppm")[-200 * 150 * 3:]
        status, headers, body = self.view(1, chain="gaussian=sigma=2,unsharp", x0=.25, y0=.2,
                                          x1=.5, y1=.6)
        self.assertEqual(status, 200, body[:300])
        said = json.loads(headers["X-View"])
        self.assertEqual([said[k] for k in ("x", "y", "width", "height")], [50, 30, 50, 60])
        for y in range(60):
            for x in (0, 17, 49):
                at = 3 * ((30 + y) * 200 + 50 + x)
                got = body[4 * (y * 50 + x):4 * (y * 50 + x) + 4]
                self.assertEqual(got, want[at:at + 3] + b"\xff")
        said = json.loads(self.view(2, level=1)[1]["X-View"])
        self.assertEqual((said["width"], said["height"]), (100, 75))

    def test_saved_are_the_bytes_of_the_command(self):
        self.start("in/a.png")
        chain = "median=ksize=3,gaussian=sigma=1.5"
        for name in ("png", "jpeg", "tiff"):
            self.tamis("run", chain, "in/a.png", "-o", "want." + name)
            status, _, body = self.query("/save", id=0, chain=chain, format=name)
            self.assertEqual((status, body), (200, self.read("want." + name)), name)
        self.assertEqual(self.query("/save", id=0, chain="", format="../x")[0], 400)
        self.assertIn("gif",
                      self.said(self.query("/save", id=0, chain="", format="gif"), 422)["error"])
        query = self.query("/save", id=0, chain="color=to=gray", format="gif")
        error = self.said(query, 422)["error"]
        self.assertNotIn("tamis-live", error)
        self.assertIn("guide", self.said(self.query("/save", id=0, chain="remap", format="png"),
                                         422)["error"])
        self.assertEqual(os.listdir(self.tmp + "/" + os.listdir(self.tmp)[0]), [])

    def test_wrong_chains(self):
        self.start("in/a.png")
        error = self.said(self.view(1, chain="gaussian=sigma=-3"), 422)["error"]
        self.assertIn("sigma", error)
        self.assertIn("nosuch", self.said(self.view(2, chain="nosuch"), 422)["error"])
        self.assertEqual(self.view(3, level=17)[0], 400)
        self.assertEqual(self.view(4, level="x", x0="nan", y1="inf")[0], 200)
        said = json.loads(self.view(5, chain="resize=scale=2")[1]["X-View"])
        self.assertEqual(said["whole_width"], 400)

    def test_chosen_by_the_picture(self):
        """What a chain leaves to the picture is what the command chooses, at every level."""
        self.write("small.png", png_bytes(40, 30, 3, pattern(40, 30, 3)))
        self.start("small.png")
        for i, chain in enumerate(("denoise",
                                   "gaussian=sigma=1,nlmeans=h=auto:sigma=auto:search=5")):
            self.tamis("run", chain, "small.png", "-o", "want.ppm", "--overwrite")
            want = self.read("want.ppm")[-40 * 30 * 3:]
            status, _, body = self.view(10 * i, chain=chain)
            self.assertEqual(status, 200, body[:300])
            self.assertEqual(b"".join(body[4 * k:4 * k + 3] for k in range(40 * 30)), want, chain)
            self.assertEqual(self.view(10 * i + 4, chain=chain, level=1)[0], 200)

    def test_only_what_follows_is_new(self):
        """What a chain leaves to the picture stays chosen while filters behind it change."""
        self.start("in/a.png")
        chain = "median=ksize=3,nlmeans=h=auto:sigma=auto:search=3:patch=3,unsharp=amount=%d"
        for amount in (1, 2):
            self.tamis("run", chain % amount, "in/a.png", "-o", "want.ppm", "--overwrite")
            want = self.read("want.ppm")[-200 * 150 * 3:]
            status, _, body = self.view(amount, chain=chain % amount)
            self.assertEqual(status, 200, body[:300])
            self.assertEqual(b"".join(body[4 * k:4 * k + 3] for k in range(200 * 150)), want)

    def test_half_floats_by_parts(self):
        """Half floats are widened, also those that are read by parts."""
        row = struct.pack("<2200e", *(i / 2200 for i in range(2200)))
        head = "{'descr': '<f2', 'fortran_order': False, 'shape': (1200, 2200), }".ljust(117) + "\n"
        with open(self.path("half.npy"), "wb") as f:
            f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.encode() + row * 1200)
        self.start("half.npy", "--max_memory", "16M", "--threads", "2")
        self.assertFalse(self.said(self.query("/picture", id=0))["whole"])
        for i, chain in enumerate(("", "gaussian=sigma=1", "nlmeans=h=auto:search=3:patch=3")):
            status, headers, body = self.view(i, chain=chain, x0=.5, x1=.75, y0=.25, y1=.3)
            self.assertEqual(status, 200, body[:300])
            said = json.loads(headers["X-View"])
            self.assertEqual([said[k] for k in ("low", "high", "width", "height")], [0, 1, 550, 60])
            for x in (0, 300, 549):
                self.assertAlmostEqual(body[4 * x], 255 * (1100 + x) / 2200, delta=1)

    def test_other_file_of_that_name(self):
        """A picture that has left memory and come back in another size has plans of its own."""
        self.start("in", "--max_memory", "4M", "--threads", "2")
        self.assertEqual(len(self.view(1)[2]), 200 * 150 * 4)
        self.write("in/a.png", png_bytes(60, 50, 3, pattern(60, 50, 3)))
        large = png_bytes(640, 540, 3, [bytes(640 * 3)] * 540)
        for i in (1, 2):
            self.said(self.ask("/upload?name=b.png", "POST", large), 201)
            self.assertEqual(self.view(1, client="d%d" % i, id=i, x1=.1)[0], 200)
        status, _, body = self.view(2)
        self.assertEqual((status, len(body)), (200, 60 * 50 * 4))

    def test_newest_wins(self):
        self.start("in/a.png")
        self.assertEqual(self.view(7)[0], 200)
        self.assertEqual(self.view(6)[0], 409)
        self.assertEqual(self.view(6, client="d")[0], 200)

    def test_newer_ones_stop_older_ones(self):
        """What is superseded ends in the middle; pieces of one wish run beside each other."""
        self.write("large.png", png_bytes(1200, 900, 3, pattern(1200, 900, 3)))
        self.start("large.png", "--threads", "2")
        self.assertEqual(self.view(1)[0], 200)
        slow, answers = "nlmeans=search=99:patch=7", {}

        def ask(name, number):
            answers[name] = self.view(number, chain=slow, y1=0.6)[0]

        threads = [threading.Thread(target=ask, args=(name, 2)) for name in ("a", "b")]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        self.assertEqual(self.view(2, x1=0.1)[0], 200)
        self.assertEqual(answers, {}, "the machine is too fast for this test")
        self.assertEqual(self.view(3, x1=0.1)[0], 200)
        for thread in threads:
            thread.join()
        self.assertEqual(answers, {"a": 409, "b": 409})

    def test_who_hangs_up_is_not_worked_for(self):
        """Pages that are closed or loaded anew leave nothing running, which would take minutes."""
        self.write("large.png", png_bytes(1200, 900, 3, pattern(1200, 900, 3)))
        self.start("large.png", "--threads", "2")
        self.assertEqual(self.view(1)[0], 200)
        idle = self.settled_threads()
        for i in range(4):
            wish = dict(id=0, client="c%d" % i, number=1, level=0, x0=0, y0=0, x1=1, y1=1,
                        chain=",".join(["nlmeans=search=99"] * 8), budget=i % 2)
            page = socket.create_connection(("127.0.0.1", self.port))
            page.sendall(b"GET /%s/view?%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" %
                         (self.token.encode(), urllib.parse.urlencode(wish).encode(), self.port))
            time.sleep(0.3)
            self.assertGreater(self.threads(), idle, "nothing is running")
            page.close()
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and self.threads() > idle:
            time.sleep(0.05)
        self.assertLessEqual(self.threads(), idle)

    def test_previews(self):
        """Within a budget there is a preview with fewer pixels, or the result if that is quick."""
        self.write("large.png", png_bytes(1201, 901, 3, pattern(1201, 901, 3)))
        self.start("large.png")
        chain = "nlmeans=search=21"
        status, headers, body = self.view(1, chain=chain, budget=1e-9)
        self.assertEqual(status, 200, body[:300])
        said = json.loads(headers["X-View"])
        self.assertEqual([said[k] for k in ("exact", "level", "whole_width", "whole_height")],
                         [False, 3, 151, 113])
        self.assertEqual(len(body), 4 * 151 * 113)
        status, headers, body = self.view(2, chain="gaussian", level=2, budget=60)
        said = json.loads(headers["X-View"])
        self.assertEqual((said["exact"], said["level"]), (False, 2))
        quick = self.view(3, chain="gaussian", x1=0.5, budget=60)
        self.assertTrue(json.loads(quick[1]["X-View"])["exact"])
        self.assertEqual(quick[2], self.view(4, chain="gaussian", x1=0.5)[2])
        self.assertIn("nosuch", self.said(self.view(5, chain="nosuch", budget=1), 422)["error"])

    def test_kept_plans_make_room(self):
        """Plans that are kept for later are no reason to refuse a new one."""
        self.write("large.png", png_bytes(1200, 900, 3, pattern(1200, 900, 3)))
        self.start("large.png", "--max_memory", "24M", "--threads", "2")
        for i in range(12):
            answer = self.view(i, chain="canny=low=%d" % (40 + i), x1=0.1)
            self.assertEqual(answer[0], 200, answer[2][:300])

    def test_uploads(self):
        self.start("--max_upload", "100K")
        self.assertEqual(self.said(self.ask("/pictures")), [])
        picture = png_bytes(60, 50, 1, pattern(60, 50))
        answer = self.ask("/upload?name=..%2F%2Fx%3Cy%3E.png", "POST", picture)
        self.assertEqual(self.said(answer, 201), {"id": 0, "name": "..//x<y>.png"})
        info = self.said(self.query("/picture", id=0))
        self.assertEqual((info["width"], info["type"], info["path"]), (60, "u8", None))
        error = self.said(self.ask("/upload?name=t.txt", "POST", b"no picture"), 422)["error"]
        self.assertTrue(error.startswith("t.txt: "), error)
        self.assertNotIn("tamis-live", error)
        self.assertEqual(self.ask("/upload", "POST", bytes(100 * 1024 + 1))[0], 413)
        chunks = iter([bytes(50000)] * 3)  # whose sum is not told beforehand
        self.assertEqual(self.ask("/upload", "POST", chunks)[0], 413)
        self.assertEqual(self.ask("/other", "POST", picture)[0], 404)
        for _ in range(20):  # the first ones go
            self.said(self.ask("/upload?name=b.png", "POST", picture), 201)
        self.assertEqual(len(self.said(self.ask("/pictures"))), 16)
        self.assertEqual(self.query("/picture", id=20)[0], 200)
        self.assertEqual(self.query("/picture", id=0)[0], 404)
        self.assertEqual(self.stop(), 0)
        self.assertEqual(os.listdir(self.tmp), [])

    def test_uploads_that_have_gone_leave_nothing(self):
        # What AddressSanitizer keeps of freed memory shall not count.
        self.start(ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") +
                   ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0")
        picture = png_bytes(8, 6, 1, pattern(8, 6))
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sizes = []
        for count in (200, 1000):
            for _ in range(count):
                connection.request("POST", "/" + self.token + "/upload?name=b.png", picture)
                self.assertEqual(json.loads(connection.getresponse().read())["name"], "b.png")
            sizes.append(self.memory())
        connection.close()
        self.assertLess(sizes[1], sizes[0] + 1024)

    def test_cut_connections(self):
        self.start("in")
        for text in (b"", b"GET", b"GET / HTTP/1.1\r\n", b"\0\xff" * 100, b"GET /" + b"a" * 70000,
                     b"POST /%s/upload HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                     b"Content-Length: 9999\r\n\r\nab" %
                     (self.token.encode(), self.port)) * 5:
            cut = socket.create_connection(("127.0.0.1", self.port))
            try:
                cut.sendall(text)
            except OSError:
                pass
            cut.close()
        status, headers, body = self.view(1)
        self.assertEqual((status, len(body)), (200, 200 * 150 * 4))
        deadline = time.monotonic() + 20  # what was left of uploads goes
        while time.monotonic() < deadline and any(files for _, _, files in os.walk(self.tmp)):
            time.sleep(0.05)
        self.assertEqual([files for _, _, files in os.walk(self.tmp) if files], [])

    def threads(self):
        """One for each connection, beside those that are always there."""
        return len(os.listdir("/proc/%d/task" % self.server.pid))

    def settled_threads(self):
        """When connections that have ended are gone, too."""
        count, since = self.threads(), time.monotonic()
        while time.monotonic() - since < 1:
            time.sleep(0.05)
            if self.threads() != count:
                count, since = self.threads(), time.monotonic()
        return count

    def memory(self):
        with open("/proc/%d/status" % self.server.pid, encoding="ascii") as f:
            return int([line for line in f if line.startswith("VmRSS")][0].split()[1])

    def browse(self, name, rounds, wrong):
        """What a browser does while sliders move."""
        try:
            for i in range(rounds):
                chain = "gaussian=sigma=%.2f" % (1 + i % 7 / 4)
                status, _, body = self.view(i, client=name, chain=chain, x1=0.5,
                                            budget=60 * (i % 2))
                if (status, len(body)) != (200, 100 * 150 * 4):
                    wrong.append((status, body[:100]))
        except (OSError, http.client.HTTPException) as error:
            wrong.append(error)

    def test_eight_browsers(self):
        self.start("in")
        sizes = []
        for turn, rounds in enumerate((10, 20, 20)):
            wrong = []
            threads = [threading.Thread(target=self.browse,
                                        args=("%d-%d" % (turn, i), rounds, wrong))
                       for i in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])
            sizes.append(self.memory())
        self.assertLess(sizes[2], 1.5 * sizes[1] + 8192, sizes)

    def test_json(self):
        self.server = subprocess.Popen([TAMIS, "serve", "--json"], cwd=self.dir,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.stop)
        text = b""
        while not text.endswith(b"}\n"):
            text += self.server.stdout.readline()
        said = json.loads(text)
        self.assertEqual((said["command"], said["schema_version"]), ("serve", 1))
        self.assertRegex(said["address"], r"^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/$")

    def test_ends(self):
        self.start("in")
        self.ask("/")
        self.assertEqual(self.stop(), 0)
        self.tamis("serve", "missing.png", code=3)
        self.tamis("serve", "-", code=2)
        with open("/dev/full", "wb") as full:  # nobody would know the address
            run = subprocess.run([TAMIS, "serve"], stdout=full, stderr=subprocess.PIPE,
                                 check=False, timeout=60)
        self.assertEqual(run.returncode, 4, run.stderr)
        self.start("in")
        err = self.tamis("serve", "--port", str(self.port), code=4).err
        self.assertIn(str(self.port), err)

    def test_the_browser_is_told_by_a_page(self):
        """What programs are called with can be read by everybody: the address is not in there."""
        os.mkdir(self.path("bin"))
        self.write("bin/xdg-open",
                   b'#!/bin/sh\nstat -c %a "$1" >mode\ncp "$1" page\necho "$@" >new\nmv new said\n')
        os.chmod(self.path("bin/xdg-open"), 0o755)
        self.start("in", "--open", PATH=self.path("bin") + ":" + os.environ["PATH"])
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not os.path.exists(self.path("said")):
            time.sleep(0.02)
        self.assertNotIn(self.token.encode(), self.read("said"))
        self.assertIn(self.token.encode(), self.read("page"))
        self.assertEqual(self.read("mode"), b"600\n")
        self.assertEqual(self.stop(), 0)
        self.assertEqual(os.listdir(self.tmp), [])

    def test_no_browser(self):
        """The address is there all the same."""
        self.start("in", "--open", PATH=self.path("no such folder"))
        self.assertEqual(self.ask("/")[0], 200)
        time.sleep(0.3)
        self.server.send_signal(signal.SIGINT)
        err = self.server.communicate(timeout=60)[1]
        self.assertEqual(self.server.returncode, 0)
        self.assertIn(b"xdg-open: No such file", err)

    def test_files_are_closed(self):
        """Of pictures that are in memory no file stays open."""
        self.start("in")
        self.assertEqual(self.view(1)[0], 200)
        folder, names = "/proc/%d/fd/" % self.server.pid, []
        for n in os.listdir(folder):
            try:
                names.append(os.readlink(folder + n))
            except FileNotFoundError:  # a connection that has just ended
                pass
        self.assertNotIn(self.path("in/a.png"), names)
