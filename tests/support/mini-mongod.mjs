#!/usr/bin/env node
// Runs miniMongod.mjs as a program:
//
//   node mini-mongod.mjs [--port 27117] [--host 127.0.0.1] [--log] [--with-parent] [--replica-set]
//
// --with-parent ends it when its stdin ends, so that it does not outlive the process that started it. Port 0 takes a
// free one; the line on stdout says which.
import { parseArgs } from 'node:util';
import { startMiniMongod } from './miniMongod.mjs';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '27117' },
    host: { type: 'string', default: '127.0.0.1' },
    log: { type: 'boolean', default: false },
    'with-parent': { type: 'boolean', default: false },
    'replica-set': { type: 'boolean', default: false },
  },
});
const { url } = await startMiniMongod({
  host: values.host,
  port: Number(values.port),
  log: values.log,
  replicaSet: values['replica-set'],
});
console.log(`mini-mongod on ${url} (pid ${process.pid})`);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0));
if (values['with-parent']) process.stdin.on('end', () => process.exit(0)).resume();
