/**
 * Runs the checks of `npm run check`, two at a time, and prints the output of each when it ends. The exit code is 1 if
 * any has failed.
 */
'use strict';

require('./checkNode.cjs').requireNode();

const { spawn } = require('node:child_process');

/** Lint and types use both of two cores, imports one: what uses one is not left to the end. */
const CHECKS = ['check:lint', 'check:imports', 'check:types', 'check:format'];
const AT_ONCE = 2;

/** Lint's type checker is a Go program that ends soon: it collects garbage only if memory becomes scarce. */
const env = { GOGC: 'off', GOMEMLIMIT: '4GiB', ...process.env };

const waiting = [...CHECKS];

async function worker() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await run(name);
}

/** @param {string} name of an npm script */
function run(name) {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', name], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    });
    const output = [];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
      process.stdout.write(Buffer.concat(output));
      console.log(`${name} ${code === 0 ? 'passed' : 'failed'} after ${seconds} s.`);
      if (code !== 0) process.exitCode = 1;
      resolve();
    });
  });
}

Promise.all(Array.from({ length: AT_ONCE }, worker)).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
