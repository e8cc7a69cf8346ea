/** Responses that OpenAI generates in the background, and conversations that it stores. */
import { expect } from 'chai';
import type {
  BackgroundCallKey,
  BackgroundCallStore,
} from '../../imports/business/ai/domain/interfaces/BackgroundCalls';
import { LLMAbortedError, isLLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { itInVirtualTime } from '../support/itInVirtualTime';
import { RecordingLogger } from '../support/RecordingLogger';
import { SIMULATED_VENDORS } from '../support/simulatedProviders';

class Calls implements BackgroundCallStore {
  private readonly ids = new Map<string, string>();
  private onSaved = (): void => undefined;
  readonly saved = new Promise<void>((resolve) => (this.onSaved = resolve));
  find = (key: BackgroundCallKey) => Promise.resolve(this.ids.get(JSON.stringify(key)));
  save(key: BackgroundCallKey, responseId: string): Promise<void> {
    this.ids.set(JSON.stringify(key), responseId);
    this.onSaved();
    return Promise.resolve();
  }
  remove(key: BackgroundCallKey): Promise<void> {
    this.ids.delete(JSON.stringify(key));
    return Promise.resolve();
  }
}

describe('responses in the background', () => {
  let simulator: Simulator;
  let backgroundCalls: Calls;
  const modules: AIModule[] = [];
  beforeEach(async () => {
    simulator = await startSimulator({ backgroundReads: 1 });
    backgroundCalls = new Calls();
  });
  afterEach(async () => {
    await Promise.all(modules.splice(0).map((module) => module.close()));
    await simulator.close();
  });

  const moduleOf = (name: string): AIModule => {
    const { vendor, wire, model } = SIMULATED_VENDORS.find((each) => each.name === name)!;
    const baseURL = simulator.baseURL(vendor);
    const provider = { vendor, wire, defaultModel: model, apiKey: 'test-key', baseURL, allowPrivateHosts: true };
    const module = createAIModule({ providers: [provider] }, { logger: new RecordingLogger(), backgroundCalls });
    modules.push(module);
    return module;
  };
  const asked = (): number => simulator.requests.filter(({ method }) => method === 'POST').length;
  const turn = { executionId: 'run-1', iteration: 1 };

  for (const name of ['OpenAI Responses', 'Azure Responses', 'Google Interactions']) {
    itInVirtualTime(`of ${name} are waited for`, async () => {
      const { manager } = moduleOf(name);
      const response = await manager.generate('ann', { input: 'Echo 1', background: true });
      expect(response).to.include({ status: 'completed' });
      expect(response.output_text).to.include('Echo 1');
      expect(simulator.requests.map(({ method }) => method)).to.deep.equal(['POST', 'GET', 'GET']);
      expect(simulator.requests[0]?.body).to.include({ background: true, store: true });
      expect(manager.usage()[0]).to.include({ calls: 1 });
    });

    itInVirtualTime(`of ${name} are found again by another process for the same turn`, async () => {
      const stop = new AbortController();
      const left = moduleOf(name).manager.generate('ann', {
        ...{ input: 'Echo 1', background: true, turn, signal: stop.signal },
      });
      await backgroundCalls.saved;
      // A process that hands its runs over aborts its calls.
      stop.abort(new Error('handed over'));
      expect(await left.catch((error: unknown) => String(error))).to.include('handed over');
      const { manager } = moduleOf(name);
      const again = await manager.generate('ann', { input: 'Echo 1', background: true, turn });
      expect(again.output_text).to.include('Echo 1');
      expect(asked()).to.equal(1);
      const other = await manager.generate('ann', { input: 'Echo 2', background: true, turn });
      expect(other.output_text).to.include('Echo 2');
      expect(asked()).to.equal(2);
    });

    it(`of ${name} are cancelled at the vendor with their run`, async () => {
      const stop = new AbortController();
      const { manager } = moduleOf(name);
      const left = manager.generate('ann', { input: 'Echo 1', background: true, turn, signal: stop.signal });
      await backgroundCalls.saved;
      stop.abort(new LLMAbortedError('The run was cancelled.'));
      await left.catch(() => undefined);
      expect(simulator.requests.at(-1)?.path).to.match(/\/(responses|interactions)\/[^/]+\/cancel$/);
    });

    itInVirtualTime(`of ${name} are streamed at their end`, async () => {
      const types: string[] = [];
      for await (const event of moduleOf(name).manager.stream('ann', {
        input: 'Hi',
        background: true,
        turn,
      }))
        types.push(event.type);
      expect(types[0]).to.equal('response.created');
      expect(types.at(-1)).to.equal('response.completed');
    });
  }

  it('are ordinary ones elsewhere, with a warning', async () => {
    const response = await moduleOf('Anthropic').manager.generate('ann', { input: 'Hi', background: true });
    expect(response.vendor.warnings.join()).to.include('"background" was omitted');
  });

  itInVirtualTime('run the agentic loop', async () => {
    const { loop } = moduleOf('OpenAI Responses');
    const { response } = await loop.execute('ann', { input: 'Echo 3', model: 'openai', background: true });
    expect(response.output_text).to.include('Echo 3');
    expect(simulator.requests.filter(({ method }) => method === 'GET')).to.have.length(2);
  });

  it('continue conversations that the vendor stores', async () => {
    const { manager, loop } = moduleOf('OpenAI Responses');
    await manager.generate('ann', { input: 'My name is Ada.', conversation: 'conv_1', store: true });
    await manager.generate('ann', { input: 'Echo 2', conversation: 'conv_1', store: true });
    expect(simulator.requests.at(-1)?.body).to.include({ conversation: 'conv_1' });
    expect(JSON.stringify(simulator.requests.at(-1)?.body)).to.not.include('Ada');
    for (const refused of [
      moduleOf('Anthropic').manager.generate('ann', { input: 'Hi', conversation: 'conv_1' }),
      loop.execute('ann', { input: 'Hi', model: 'openai', conversation: 'conv_1' }),
    ]) {
      const error = await refused.catch((thrown: unknown) => thrown);
      expect(isLLMError(error) && error.path).to.equal('conversation');
    }
  });
});
