/** `/chat` against the AI SDK's own client, on every vendor of the simulator. */
import { expect } from 'chai';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { VENDOR_VARIABLES } from '../../imports/startup/settings/vendors';
import { startServer } from '../../imports/startup/node/startServer';
import type { RunningServer } from '../../imports/startup/node/startServer';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chatClient, textOf } from '../support/ChatClient';
import { deferred } from '../support/deferred';

let background = deferred<string>();
const tools = new ToolRegistry()
  .register({
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    execute: ({ city }: { city: string }) => ({ city, sky: 'clear' }),
    idempotent: true,
  })
  .register({
    name: 'research_topic',
    blocking: false,
    idempotent: true,
    parameters: { type: 'object', properties: { topic: { type: 'string' } }, required: ['topic'] },
    execute: (_args: unknown, { progress }) => {
      progress(0.5, 'half');
      return background.promise;
    },
  })
  .register({
    name: 'send_reminder',
    needsApproval: true,
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    execute: ({ text }: { text: string }) => ({ noted: text }),
  });

describe('the chat endpoint', function () {
  this.timeout(60_000);
  let server: RunningServer;
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-chat-'));
    server = await startServer({ env: { PORT: '0', DATA_DIR: directory }, tools, dashboard: false });
  });
  after(async () => {
    await server.close();
    await rm(directory, { recursive: true });
  });
  beforeEach(() => {
    background = deferred();
  });

  for (const vendor of Object.keys(VENDOR_VARIABLES)) {
    it(`streams text and a blocking call with ${vendor}`, async () => {
      const { chat, errors } = chatClient(server, { body: { model: vendor } });
      await chat.sendMessage({ text: 'What is the weather in Lisbon?' });
      expect(errors.map(({ message }) => message)).to.deep.equal([]);
      const message = chat.messages.at(-1);
      expect(
        message?.parts.map(({ type }) => type).filter((type) => type !== 'reasoning' && type !== 'custom'),
      ).to.deep.equal(['step-start', 'tool-get_weather', 'step-start', 'text']);
      expect(message?.parts.find(({ type }) => type === 'tool-get_weather')).to.deep.include({
        state: 'output-available',
        input: { city: 'Lisbon' },
        output: { city: 'Lisbon', sky: 'clear' },
      });
      expect(textOf(message)).to.contain('get_weather returned');
    });
  }
});
