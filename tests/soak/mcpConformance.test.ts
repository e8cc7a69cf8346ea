/** The protocol's own conformance suite for clients. Its program needs Node 22. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const ROOT = join(__dirname, '../..');
const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const CLIENT = `${process.execPath} --require tsx/cjs tests/support/mcp/conformanceClient.ts`;
/** All for clients of the revisions that are negotiated, but for those of machines' accounts. */
const SCENARIOS = [
  'initialize',
  'tools_call',
  'sse-retry',
  'elicitation-sep1034-client-defaults',
  'auth/metadata-default',
  'auth/metadata-var1',
  'auth/metadata-var2',
  'auth/metadata-var3',
  'auth/basic-cimd',
  'auth/scope-from-www-authenticate',
  'auth/scope-from-scopes-supported',
  'auth/scope-omitted-when-undefined',
  'auth/scope-step-up',
  'auth/scope-retry-limit',
  'auth/token-endpoint-auth-basic',
  'auth/token-endpoint-auth-post',
  'auth/token-endpoint-auth-none',
  'auth/pre-registration',
  'auth/resource-mismatch',
  'auth/offline-access-scope',
  'auth/offline-access-not-supported',
];

if (Number(process.versions.node.split('.')[0]) >= 22)
  describe('the conformance suite of the Model Context Protocol', () => {
    for (const scenario of SCENARIOS)
      it(`passes the client in the scenario ${scenario}`, async () => {
        const directory = await mkdtemp(join(tmpdir(), 'bolide-conformance-'));
        const options = ['--scenario', scenario, '--timeout', '60000', '--output-dir', directory];
        try {
          const { stdout, stderr } = await promisify(execFile)(
            process.execPath,
            [SUITE, 'client', '--command', CLIENT, ...options],
            { cwd: ROOT, env: { ...process.env, TSX_TSCONFIG_PATH: 'tsconfig.node.json' } },
          );
          expect(stdout + stderr).to.match(/Passed: (\d+)\/\1, 0 failed, 0 warnings/);
        } finally {
          await rm(directory, { recursive: true, force: true });
        }
      });
  });
