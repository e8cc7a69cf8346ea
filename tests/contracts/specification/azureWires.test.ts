import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAIModule } from '../../../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../../../imports/business/ai/infrastructure/factories/createAIModule';
import { createProvider } from '../../../imports/business/ai/infrastructure/factories/createProvider';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { settingsFromEnvironment, settingsFromMeteor } from '../../../imports/host/settings/vendors';
import type { Environment } from '../../../imports/host/settings/environment';
import { failure } from '../../support/failure';

const BEFORE_RESPONSES = ['2023-05-15', '2024-10-21', '2025-01-01-preview', '2025-02-01-preview'];
const WITH_RESPONSES = ['2025-03-01-preview', '2025-04-01-preview', '2025-04-01', 'preview', 'v1', ''];

describe('Azure and OpenAI proxies, as they are usually configured', () => {
  let simulator: Simulator;
  const modules: AIModule[] = [];
  let chatOnly: Server;
  let chatOnlyURL: string;
  before(async () => {
    simulator = await startSimulator();
    chatOnly = createServer((request, response) => {
      if (request.url !== '/v1/chat/completions') {
        response.writeHead(404, { 'content-type': 'application/json' }).end('{"detail":"Not Found"}');
        return;
      }
      const { method, headers } = request;
      const upstream = httpRequest(`${simulator.baseURL('openai')}/chat/completions`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      upstream.on('error', (error) => response.destroy(error));
      request.pipe(upstream);
    });
    await once(chatOnly.listen(0, '127.0.0.1'), 'listening');
    chatOnlyURL = `http://127.0.0.1:${(chatOnly.address() as AddressInfo).port}/v1`;
  });
  after(async () => {
    await Promise.all(modules.map((module) => module.close()));
    await new Promise((resolve) => chatOnly.close(resolve));
    await simulator.close();
  });

  const open = (env: Environment): AIModule => {
    const module = createAIModule(settingsFromEnvironment(env));
    modules.push(module);
    return module;
  };
  const azure = (apiVersion: string, others: Environment = {}): Environment => ({
    LLM_PROVIDER: 'azure_openai',
    AZURE_OPENAI_KEY: 'a-key',
    AZURE_OPENAI_BASE_URL: `${simulator.baseURL('azure_openai')}/openai`,
    AZURE_OPENAI_DEPLOYMENT: 'mine',
    AZURE_OPENAI_API_VERSION: apiVersion,
    ...others,
  });
  const proxy = (others: Environment = {}): Environment => ({
    OPENAI_API_KEY: 'a-key',
    OPENAI_MODEL: 'some-model',
    OPENAI_API_BASE: chatOnlyURL,
    ...others,
  });
  async function exchange(env: Environment): Promise<readonly string[]> {
    const { manager } = open(env);
    const before = simulator.requests.length;
    expect(await manager.generateText('ann', 'Hello.')).to.be.a('string').that.is.not.empty;
    let text = '';
    for await (const event of manager.stream('ann', { input: 'Hello.' }))
      if (event.type === 'response.output_text.delta') text += event.delta;
    expect(text).to.not.equal('');
    const paths = simulator.requests.slice(before).map(({ path, query }) => {
      const version = query['api-version'];
      return version === undefined ? path : `${path}?api-version=${version}`;
    });
    expect(paths).to.have.length(2);
    return [...new Set(paths)];
  }

  for (const version of BEFORE_RESPONSES) {
    it(`speaks Chat Completions with Azure's ${version}`, async () => {
      expect(await exchange(azure(version))).to.deep.equal([
        `/azure/openai/deployments/mine/chat/completions?api-version=${version}`,
      ]);
    });
  }

  for (const version of WITH_RESPONSES) {
    it(`speaks Responses with Azure's ${version === '' ? 'API without a version' : version}`, async () => {
      const path = /^\d/.test(version) ? '/azure/openai/responses' : '/azure/openai/v1/responses';
      const query = version === '' ? '' : `?api-version=${version}`;
      expect(await exchange(azure(version))).to.deep.equal([path + query]);
    });
  }

  it('speaks Chat Completions at the address of a deployment, which has nothing else', async () => {
    const AZURE_OPENAI_BASE_URL = `${simulator.baseURL('azure_openai')}/openai/deployments/mine`;
    expect(await exchange(azure('2025-04-01-preview', { AZURE_OPENAI_BASE_URL }))).to.deep.equal([
      '/azure/openai/deployments/mine/chat/completions?api-version=2025-04-01-preview',
    ]);
  });

  it('speaks the wire that AZURE_OPENAI_WIRE names', async () => {
    expect(await exchange(azure('2025-04-01-preview', { AZURE_OPENAI_WIRE: 'chat_completions' }))).to.deep.equal([
      '/azure/openai/deployments/mine/chat/completions?api-version=2025-04-01-preview',
    ]);
    expect(await exchange(azure('v1', { AZURE_OPENAI_WIRE: 'Chat-Completions' }))).to.deep.equal([
      '/azure/openai/v1/chat/completions?api-version=v1',
    ]);
    const error = await failure(exchange(azure('2024-10-21', { AZURE_OPENAI_WIRE: 'responses' })));
    expect(error).to.have.property('status', 404);
    expect(error).to.have.property('message').that.includes('AZURE_OPENAI_WIRE=chat_completions');
  });

  it('reads the wire from Meteor settings and from the settings of one provider', async () => {
    const { providers } = settingsFromMeteor(proxy({ OPENAI_WIRE: 'chat_completions' }), {});
    expect(providers).to.have.length(1);
    for (const settings of [
      providers[0]!,
      {
        vendor: 'azure_openai' as const,
        apiKey: 'a-key',
        baseURL: `${simulator.baseURL('azure_openai')}/openai`,
        deployment: 'mine',
        apiVersion: '2024-10-21',
        allowPrivateHosts: true,
      },
    ]) {
      const provider = createProvider(settings);
      expect((await provider.generate('ann', { input: 'Hello.' })).vendor.wire).to.equal('chat_completions');
      // Calls that ask for the other wire, such as a gateway's, get the one that there is.
      expect(provider.wireOf?.('responses')).to.equal('chat_completions');
    }
  });

  it('reaches a proxy without a Responses API over the wire that OPENAI_WIRE names', async () => {
    const [path] = await exchange(proxy({ OPENAI_WIRE: 'chat_completions' }));
    expect(path).to.match(/\/chat\/completions$/);
  });

  it('names OPENAI_WIRE in the error if a proxy has no Responses API', async () => {
    const { manager } = open(proxy());
    for (const attempt of [
      () => manager.generateText('ann', 'Hello.'),
      async () => {
        for await (const _event of manager.stream('ann', { input: 'Hello.' }));
      },
    ]) {
      const error = await failure(attempt());
      expect(error).to.include({ status: 404 });
      expect(error).to.have.property('message').that.includes('OPENAI_WIRE=chat_completions');
    }
  });

  it('does not name it for a model that the proxy does not have', async () => {
    const { manager } = open(proxy({ OPENAI_WIRE: 'chat_completions', OPENAI_MODEL: 'no-such-model' }));
    const error = await failure(manager.generateText('ann', 'Hello.'));
    expect(error).to.include({ code: 'model-not-found', status: 404 });
    expect(error).to.have.property('message').that.does.not.include('OPENAI_WIRE');
  });

  it('refuses a wire that the vendor does not speak', () => {
    expect(() => settingsFromEnvironment(proxy({ OPENAI_WIRE: 'gemini' }))).to.throw(
      'OPENAI_WIRE must be responses or chat_completions, but is "gemini"',
    );
  });
});
