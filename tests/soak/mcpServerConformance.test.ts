/** The protocol's own conformance suite for servers. Its program needs Node 22. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { startConformanceServer } from '../support/mcp/conformanceServer';
import type { ConformanceServer } from '../support/mcp/conformanceServer';

const ROOT = join(__dirname, '../..');
const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
/** All for servers with tools that return texts and images, and nothing else. */
const SCENARIOS = [
  'server-initialize',
  'ping',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-error',
  'tools-call-with-progress',
  'json-schema-2020-12',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
];

if (Number(process.versions.node.split('.')[0]) >= 22)
  describe('the conformance suite of the Model Context Protocol for servers', () => {
    let directory: string;
    let server: ConformanceServer;

    before(async () => {
      directory = await mkdtemp(join(tmpdir(), 'bolide-conformance-'));
      server = await startConformanceServer(join(directory, 'data'));
    });

    after(async () => {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    });

    for (const scenario of SCENARIOS)
      it(`passes the server in the scenario ${scenario}`, async () => {
        const { stdout, stderr } = await promisify(execFile)(
          process.execPath,
          [SUITE, 'server', '--url', server.url, '--scenario', scenario, '--output-dir', directory],
          { cwd: ROOT },
        );
        expect(stdout + stderr).to.match(/Passed: (\d+)\/\1, 0 failed, 0 warnings/);
      });
  });
