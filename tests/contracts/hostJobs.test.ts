/**
 * A host with default settings executes queued runs and enforces budgets, on the embedded database and, with Agenda,
 * on MongoDB.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { itInSoak } from '../support/soak';
import { startDemoServer } from '../support/startDemoServer';
import { startTestMongo } from '../support/startTestMongo';

describe('a host', () => {
  for (const kind of ['its own files', 'MongoDB']) {
    (kind === 'MongoDB' ? itInSoak : it)(
      `executes queued runs once each, until their user’s budget is spent, in ${kind}`,
      async () => {
        const mongo = kind === 'MongoDB' ? await startTestMongo() : undefined;
        const directory = await mkdtemp(join(tmpdir(), 'bolide-host-'));
        const running = await startDemoServer({
          PORT: '0',
          DATA_DIR: directory,
          LLM_BUDGET_DAY_CALLS: '2',
          ...(mongo === undefined ? {} : { MONGO_URL: mongo.url }),
        });
        const { loop, useCases } = running.host.module;
        const queue = (): Promise<{ readonly executionId: string }> =>
          useCases.queueRun.execute(
            { userId: 'local', source: 'job' },
            { requestId: 'r1', providerId: 'openai', input: 'What is the weather in Lisbon?', tools: ['get_weather'] },
          );
        const { executionId } = await queue();
        expect((await loop.waitForResult(executionId)).iterations).to.equal(2);
        expect(await queue()).to.deep.equal({ executionId });
        const response = await fetch(`${running.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${running.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'openai', messages: [{ role: 'user', content: 'Hello' }] }),
        });
        expect(response.status).to.equal(402);
        expect(await response.text()).to.contain('budget of 2 model calls per day');
        await running.close();
        await mongo?.stop();
        await rm(directory, { recursive: true });
      },
    );
  }
});
