/** The code that the playground shows: the TypeScript compiles and runs, and curl sends what the playground would. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { ToolSummary } from '../../imports/business/ai/domain/types/ToolSummary';
import type { CodeRequest } from '../../imports/ui/playground/codeRequest';
import { toCurl } from '../../imports/ui/playground/toCurl';
import { toTypeScript } from '../../imports/ui/playground/toTypeScript';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import type { RunningServer } from '../../imports/host/node/startServer';
import { runProgram, typeErrorsOf } from '../support/docs/programs';
import { startStandalone } from '../support/startStandalone';

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** What code has to quote, for TypeScript and for shells. */
const AWKWARD = 'It\'s "quoted": ${x} `y` $(echo z) $HOME \\n\nJSON\n\u202e\u2028 \u{1F600}';
const IMAGE_NAME = "it's a $HOME pixel.png";

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const tool = (fields: Partial<ToolSummary>): ToolSummary => ({
  name: 'get_weather',
  description: 'Returns the "weather".',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  blocking: true,
  needsApproval: false,
  external: false,
  counts: {},
  ...fields,
});
const user = (text: string, attachments: CodeRequest['messages'][number]['attachments'] = []) => ({
  role: 'user' as const,
  text,
  attachments,
});
const image = { id: 'i', kind: 'image', name: IMAGE_NAME, size: 70, dataUrl: PIXEL } as const;

const BASE = { address: 'openai/gpt-5.4-mini', vendorAddress: 'openai/gpt-5.4-mini', tools: [], settings: {} };
const REQUESTS: Readonly<Record<string, Omit<CodeRequest, 'apiUrl'>>> = {
  'a message': { ...BASE, messages: [user(AWKWARD)] },
  'all settings': {
    ...BASE,
    settings: { instructions: AWKWARD, temperature: 0.5, maxOutputTokens: 500, reasoning: 'low' },
    messages: [user('Hello')],
  },
  'a schema': { ...BASE, settings: { schema: SCHEMA }, messages: [user('Where is the Prado?')] },
  'a conversation': {
    ...BASE,
    messages: [user('Hello'), { role: 'assistant', text: AWKWARD, attachments: [] }, user('Again?')],
  },
  'an image': { ...BASE, messages: [user(AWKWARD, [image])] },
  tools: {
    ...BASE,
    tools: [
      tool({}),
      tool({ name: 'get-weather', blocking: false }),
      tool({ name: 'delete', needsApproval: true }),
      tool({ name: 'agent', external: true, description: '' }),
    ],
    messages: [user('Tell me about meteors.')],
  },
};

describe('the code of the playground', () => {
  let simulator: Simulator;
  let server: RunningServer;
  let directory: string;
  before(async () => {
    simulator = await startSimulator();
    server = await startStandalone({
      BOLIDE_API_TOKEN: 'the-token-of-generated-code',
      OPENAI_API_KEY: 'any',
      OPENAI_API_BASE: simulator.baseURL('openai'),
      AI_ALLOW_PRIVATE_HOSTS: 'true',
    });
    directory = await mkdtemp(join(tmpdir(), 'bolide-code-'));
    await writeFile(join(directory, IMAGE_NAME), Buffer.from(PIXEL.slice(PIXEL.indexOf(',') + 1), 'base64'));
  });
  after(async () => {
    await server.close();
    await simulator.close();
    await rm(directory, { recursive: true });
  });

  it('compiles as TypeScript, whatever the request', () => {
    const programs = Object.entries(REQUESTS).map(([at, request]) => ({
      at,
      code: toTypeScript({ ...request, apiUrl: server.url }),
    }));
    expect(typeErrorsOf(programs)).to.deep.equal([]);
  });

  /** What the vendor received. */
  const lastBody = (): Readonly<Record<string, unknown>> => simulator.requests.at(-1)?.body as never;

  for (const [name, request] of Object.entries(REQUESTS)) {
    it(`runs as TypeScript with ${name}`, async () => {
      if (name === 'a schema') simulator.enqueue({ text: '{"city":"Madrid"}' });
      const code = toTypeScript({ ...request, apiUrl: server.url });
      const cwd = process.cwd();
      process.chdir(directory);
      try {
        const output = await runProgram({ at: name, code }, { simulator, env: {} });
        expect(output).to.match(/\d+ tokens/);
      } finally {
        process.chdir(cwd);
      }
      assertSent(name);
    });

    it(`runs as curl with ${name}`, async () => {
      if (name === 'a schema') simulator.enqueue({ text: '{"city":"Madrid"}' });
      const demo = name === 'tools' ? { ...request, tools: [tool({}), tool({ name: 'get_time' })] } : request;
      const command = toCurl({ ...demo, apiUrl: server.url }, `curl-${name.replaceAll(' ', '-')}`);
      const { stdout } = await promisify(execFile)('sh', ['-c', command], {
        cwd: directory,
        env: { PATH: process.env['PATH'], HOME: '/nowhere', BOLIDE_API_TOKEN: 'the-token-of-generated-code' },
      });
      const answer = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
      if (name !== 'tools') {
        expect(answer, stdout).to.have.property('status', 'completed');
        assertSent(name);
        return;
      }
      expect(answer, stdout).to.have.property('executionId').that.is.a('string');
      await server.host.module.loop.waitForResult(String(answer['executionId']));
      expect(lastBody()['tools']).to.have.length(2);
    });
  }

  function assertSent(name: string): void {
    const sent = JSON.stringify(lastBody());
    const quoted = JSON.stringify(AWKWARD).slice(1, -1);
    if (['a message', 'a conversation', 'an image', 'all settings'].includes(name)) expect(sent).to.include(quoted);
    if (name === 'an image') expect(sent).to.include(PIXEL);
    if (name === 'all settings') {
      expect(lastBody()).to.include({ max_output_tokens: 500 });
      expect(sent).to.include('"effort":"low"');
    }
    if (name === 'a schema') expect(sent).to.include('json_schema').and.to.include('"city"');
  }
});
