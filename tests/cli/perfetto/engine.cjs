// Runs Perfetto's engine under Node: messages of its RPC stream come on standard input, answers go to standard output.
//
//   node engine.cjs UI_FOLDER
//
// The bundle is made for a browser's worker.  Here are the few things of one that it asks for; its WebAssembly it gets
// through XMLHttpRequest.
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const folder = process.argv[2];
process.type = 'renderer'; // else its runtime refuses to run under Node
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = class {};
globalThis.location = {href: `file://${folder}/engine_bundle.js`};
globalThis.XMLHttpRequest = class {
  open(_method, url) {
    this.file = path.join(folder, path.basename(url));
  }
  send() {
    const bytes = fs.readFileSync(this.file);
    this.status = 200;
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  }
};
console.log = console.warn = (...words) => process.stderr.write(words.join(' ') + '\n');
vm.runInThisContext(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'));

function writeAll(bytes) {
  for (let done = 0; done < bytes.length;) {
    try {
      done += fs.writeSync(1, bytes, done);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

const port = {postMessage: writeAll};
setTimeout(() => {
  self.onmessage({data: port});
  process.stdin.on('data', (bytes) => port.onmessage({data: new Uint8Array(bytes)}));
  process.stdin.on('end', () => process.exit(0));
}, 200);
