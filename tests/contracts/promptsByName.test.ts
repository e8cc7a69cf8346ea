/** Prompts that requests name: in runs, agents, routing rules and the gateway, changed while the server runs. */
import { expect } from 'chai';
import { agent } from '../../imports/library/Agent';
import { failure } from '../support/failure';
import { startSimulatedServer } from '../support/startSimulatedServer';
import type { SimulatedServer } from '../support/startSimulatedServer';
import { until } from '../support/until';

const TOKEN = 'a-token-for-the-tests-of-prompts';

describe('A prompt that a request names', () => {
  let server: SimulatedServer;
  before(async () => {
    server = await startSimulatedServer({ BOLIDE_API_TOKEN: TOKEN });
    await save('Be {{tone}}.', { input: 'I sell kites.', temperature: 0.3 });
  });
  after(() => server.close());

  const request = async (path: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status, path).to.be.within(200, 202);
    return (await response.json()) as Readonly<Record<string, unknown>>;
  };
  const save = (instructions: string, more: object = {}) =>
    request('/api/prompts', { name: 'sales', shared: true, content: { instructions, ...more } });
  const sent = (): string => JSON.stringify(server.simulator.requests.at(-1)?.body);
  const PROMPT = { name: 'sales', variables: { tone: 'dry' } };

  it('gives a run its texts and settings, whose version the run records and keeps', async () => {
    const { executionId } = await request('/api/runs', {
      requestId: 'r1',
      providerId: 'openai',
      input: 'What do I sell?',
      prompt: PROMPT,
    });
    const runs = server.host.module.runs;
    await until(async () => (await runs.load(String(executionId)))?.run.state === 'completed');
    expect(sent()).to.include('Be dry.').and.include('I sell kites.').and.include('"temperature":0.3');
    const stored = await runs.load(String(executionId));
    expect(stored?.run.metadata).to.deep.equal({ prompt: 'sales@1' });
    expect(stored?.run.plan.options.instructions).to.equal('Be dry.');
  });

  it('is another one for the next request as soon as it is labelled', async () => {
    const assistant = agent({ host: server.host, model: 'openai', userId: 'local', prompt: PROMPT });
    const saved = await save('Be very {{tone}}.');
    await request(`/api/prompts/${String(saved['_id'])}/labels`, { label: 'production', version: 1 });
    await assistant.generate('Hello');
    expect(sent()).to.include('Be dry.');
    await request(`/api/prompts/${String(saved['_id'])}/labels`, { label: 'production', version: 2 });
    const { executionId } = await assistant.generate('Hello');
    expect(sent()).to.include('Be very dry.').and.not.include('kites');
    const stored = await server.host.module.runs.load(executionId);
    expect(stored?.run.metadata).to.deep.equal({ prompt: 'sales@2' });
    await assistant.generate('Hello', { instructions: 'Be brief.' });
    expect(sent()).to.include('Be brief.').and.not.include('dry');
  });

  it('is named in the gateway, and by routing rules, which never mean a user’s own', async () => {
    await request('/v1/responses', { model: 'openai', input: 'Hello', prompt: PROMPT });
    expect(sent()).to.include('Be very dry.').and.not.include('"prompt":');
    await request('/api/prompts', { name: 'sales', content: { instructions: 'My own.' } });
    await request('/api/routing/seller', { targets: ['openai'], defaults: { prompt: PROMPT } });
    await request('/v1/chat/completions', { model: 'seller', messages: [{ role: 'user', content: 'Hello' }] });
    expect(sent()).to.include('Be very dry.');
    const { module } = server.host;
    const response = await module.manager.generate('local', { model: 'seller', input: 'Hello' });
    expect(response.vendor.prompt).to.deep.equal({ name: 'sales', version: 2 });
  });

  it('is refused where nothing is saved', async () => {
    const assistant = agent({
      providers: [
        { vendor: 'openai', apiKey: 'k', baseURL: server.simulator.baseURL('openai'), allowPrivateHosts: true },
      ],
      prompt: PROMPT,
    });
    expect(await failure(assistant.generate('Hello'))).to.have.property('path', 'prompt');
  });
});
