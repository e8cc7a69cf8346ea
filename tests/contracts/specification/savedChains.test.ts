import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { LLMClient } from '../../../imports/business/ai/application/services/LLMClient';
import { LLMInvalidRequestError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import { createAIModule } from '../../../imports/business/ai/infrastructure/factories/createAIModule';
import { openDatabase } from '../../../imports/database/openDatabase';
import { openResponseStore } from '../../../imports/business/ai/infrastructure/persistence/responses/DocumentResponseStore';
import type { RuleModel } from '../../../imports/simulator/model/RuleModel';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { failure } from '../../support/failure';
import { RecordingLogger } from '../../support/RecordingLogger';
import { SIMULATED_VENDORS, simulatedProvider } from '../../support/simulatedProviders';

/** A model that answers with the user messages that it received. */
const echo: RuleModel = {
  respond: ({ turns }) => ({
    calls: [],
    text: turns.flatMap((turn) => (turn.type === 'user' ? [turn.text] : [])).join(', '),
    ending: 'complete',
  }),
};

interface Person {
  readonly identity: { readonly id: string };
}

for (const vendor of SIMULATED_VENDORS) {
  describe(`chains saved on entities, on ${vendor.name}`, () => {
    let simulator: Simulator;
    let directory: string;
    before(async () => {
      simulator = await startSimulator({ model: echo });
      directory = await mkdtemp(join(tmpdir(), 'bolide-chains-'));
    });
    after(async () => {
      await simulator.close();
      await rm(directory, { recursive: true });
    });

    /** One process: opens the database, sends one request for the saved entity, and saves the entity. */
    const runProcess = async (
      saved: string,
      input: string,
    ): Promise<{ readonly text: string; readonly saved: string }> => {
      const database = await openDatabase({ DATA_DIR: directory });
      const module = createAIModule(
        {
          providers: [
            {
              vendor: vendor.vendor,
              wire: vendor.wire,
              defaultModel: vendor.model,
              apiKey: 'k',
              baseURL: simulator.baseURL(vendor.vendor),
              allowPrivateHosts: true,
            },
          ],
        },
        { responses: await openResponseStore(database) },
      );
      const bob = JSON.parse(saved) as Person;
      const client = new LLMClient({
        provider: module.manager,
        userId: 'simulation',
        entities: [bob],
        defaultDepth: 2,
        model: vendor.vendor,
      });
      const text = await client.createResponse({ input, entityKey: 'intention:bob' });
      await module.close();
      await database.close();
      return { text, saved: JSON.stringify(bob) };
    };

    it('continue after a restart', async () => {
      const first = await runProcess(JSON.stringify({ identity: { id: 'bob' } }), 'one');
      const second = await runProcess(first.saved, 'two');
      const third = await runProcess(second.saved, 'three');
      expect([first.text, second.text, third.text]).to.deep.equal(['one', 'one, two', 'one, two, three']);
      expect(JSON.parse(third.saved)).to.have.nested.property('_openai.intention_chain').with.lengthOf(2);
      expect(JSON.parse(third.saved)).to.have.nested.property('_openai.usage.total_requests', 3);
    });
  });
}

describe('a chain whose last response is unknown', () => {
  let simulator: Simulator;
  before(async () => {
    simulator = await startSimulator({ model: echo });
  });
  after(() => simulator.close());
  const [anthropic] = SIMULATED_VENDORS.filter(({ vendor }) => vendor === 'anthropic');
  const bob = { identity: { id: 'bob' }, _openai: { intention_chain: ['resp_1'] } };
  const request = { input: 'Go on.', entityKey: 'intention:bob' };

  it('fails with an error that names the store to configure', async () => {
    const client = new LLMClient({
      provider: simulatedProvider(simulator, anthropic!),
      userId: 'simulation',
      entities: [structuredClone(bob)],
      defaultDepth: 2,
      model: anthropic!.model,
    });
    const error = await failure(client.createResponse(request));
    expect(error).to.be.instanceOf(LLMInvalidRequestError).and.to.have.property('path', 'previous_response_id');
    expect(error)
      .to.have.property('message')
      .that.contains("'resp_1' not found")
      .and.contains('in memory')
      .and.contains('"responseStore"')
      .and.contains('"responses"');
  });

  it('names the module, if the client uses its store', async () => {
    const module = createAIModule(
      {
        providers: [
          {
            vendor: 'anthropic',
            apiKey: 'k',
            baseURL: simulator.baseURL('anthropic'),
            allowPrivateHosts: true,
          },
        ],
      },
      { logger: new RecordingLogger() },
    );
    const client = new LLMClient({
      provider: module.manager,
      userId: 'simulation',
      entities: [structuredClone(bob)],
      defaultDepth: 2,
      model: 'anthropic',
    });
    const error = await failure(client.createResponse(request));
    expect(error).to.have.property('message').that.contains('"responses"').and.contains('createAIModule');
    await module.close();
  });
});
