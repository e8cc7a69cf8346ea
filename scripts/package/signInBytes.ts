/** Measures what a browser without a session receives from the built package's server, headers included. */
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import type { startServer } from '../../imports/host/node/startServer';
import { PACKAGE_DIRECTORY } from './packageManifest';

type Encoding = 'br' | 'gzip';

export async function signInBytes(encoding: Encoding): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'bolide-weight-'));
  // Boundary: the package is built when this runs.
  const node = (await import(join(PACKAGE_DIRECTORY, 'dist/node.js'))) as { readonly startServer: typeof startServer };
  const server = await node.startServer({ env: { PORT: '0', DATA_DIR: directory } });
  try {
    return await load(server.url, encoding);
  } finally {
    await server.close();
    await rm(directory, { recursive: true });
  }
}

/** Loads the page, what it names, and what this imports, each once. */
async function load(origin: string, encoding: Encoding): Promise<number> {
  let bytes = 0;
  const paths = new Set(['/', '/api/session']);
  // Grows while it is read.
  for (const path of paths) {
    const loaded = await get(origin + path, encoding);
    bytes += loaded.bytes;
    for (const name of namesIn(path, loaded.body)) paths.add(new URL(name, origin + path).pathname);
  }
  return bytes;
}

function namesIn(path: string, body: string): readonly string[] {
  if (path === '/') {
    const tags = body.match(/<(?:link|script)\b[^>]*>/g) ?? [];
    return tags
      .filter((tag) => !/ disabled\b| sizes="48x48"/.test(tag))
      .flatMap((tag) => / (?:href|src)="(?<name>[^"]+)"/.exec(tag)?.groups?.['name'] ?? []);
  }
  return path.endsWith('.js')
    ? [...body.matchAll(/\b(?:from|import)\s*"(?<name>\.[^"]+)"/g)].map(({ groups }) => groups?.['name'] ?? '')
    : [];
}

function get(url: string, encoding: Encoding): Promise<{ readonly bytes: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    // A connection of its own, whose bytes are those of the response.
    const sent = request(url, { agent: false, headers: { 'accept-encoding': encoding } }, (response) => {
      const { socket, headers } = response;
      const decoder = headers['content-encoding'] === 'br' ? createBrotliDecompress() : createGunzip();
      text(headers['content-encoding'] === undefined ? response : response.pipe(decoder)).then(
        (body) => resolve({ bytes: socket.bytesRead, body }),
        reject,
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}
