// Opens a page in headless Chromium, waits until an expression has a value there, prints it and saves a picture.
//
//   node page.cjs CHROMIUM FOLDER:... ADDRESS EXPRESSION PICTURE
//
// The folders are served on this machine; ORIGIN in the address stands for where. Ends with 1 and what the page shows if there is no
// value after a minute and a half.
const {spawn} = require('child_process');
const fs = require('fs');
const http = require('http');
const path = require('path');

const [chromium, folders, address, expression, picture] = process.argv.slice(2);
const types = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json', '.png': 'image/png'};
const server = http.createServer((request, response) => {
  const name = path.normalize(decodeURIComponent(request.url.split('?')[0]));
  const places = folders.split(':').map((folder) => path.join(folder, name));
  const file = places.find((place) => fs.existsSync(place)) ?? places[0];
  fs.readFile(file, (error, bytes) => {
    response.writeHead(error ? 404 : 200, {'Content-Type': types[path.extname(file)] ?? 'application/octet-stream'});
    response.end(bytes);
  });
});

async function main() {
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const url = address.replaceAll('ORIGIN', `http://127.0.0.1:${server.address().port}`);
  const profile = fs.mkdtempSync(path.join(path.dirname(path.resolve(picture)), 'profile-'));
  const options = ['--headless', '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
    '--window-size=1500,1000', '--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank'];
  const browser = spawn(chromium, options, {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
  const waiting = new Map();
  let number = 0, rest = '';
  browser.stdio[4].on('data', (bytes) => {
    const messages = (rest + bytes).split('\0');
    rest = messages.pop();
    for (const message of messages.map((text) => JSON.parse(text))) {
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  const call = (method, params = {}, sessionId = undefined) => new Promise((done, failed) => {
    waiting.set(++number, ({result, error}) => (error ? failed(new Error(`${method}: ${error.message}`)) : done(result)));
    browser.stdio[3].write(JSON.stringify({id: number, method, params, sessionId}) + '\0');
  });
  const ended = new Promise((done) => browser.on('exit', done));
  try {
    const {targetId} = await call('Target.createTarget', {url});
    const {sessionId} = await call('Target.attachToTarget', {targetId, flatten: true});
    const ask = async (what) =>
      (await call('Runtime.evaluate', {expression: what, returnByValue: true}, sessionId)).result?.value;
    let value;
    for (const until = Date.now() + 90_000; !value && Date.now() < until;) {
      await new Promise((done) => setTimeout(done, 250));
      value = await ask(expression);
    }
    const {data} = await call('Page.captureScreenshot', {}, sessionId);
    fs.writeFileSync(picture, Buffer.from(data, 'base64'));
    if (!value) throw new Error(`no value of ${expression}; the page shows ${await ask('document.body.innerText')}`);
    process.stdout.write(typeof value === 'string' ? value : JSON.stringify(value));
  } finally {
    // It removes its files from the temporary folder as it ends by itself.
    call('Browser.close').catch(() => {});
    await Promise.race([ended, new Promise((done) => setTimeout(done, 10_000))]);
    browser.kill();
    await ended;
    fs.rmSync(profile, {recursive: true, force: true});
    server.close();
  }
}

main().then(() => process.exit(0), (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
