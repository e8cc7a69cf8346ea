/** `/mcp` where any of several processes may receive a request: clients of every revision are answered. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { createHttpApi } from '../../../../imports/api/createHttpApi';
import type { HttpApi } from '../../../../imports/api/createHttpApi';
import { importMcpServer } from '../../../../imports/business/mcp/api/importMcpServer';
import { createAIModule } from '../../../../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../../../../imports/business/ai/infrastructure/factories/createAIModule';
import { connect, createOfferedTools, REVISIONS } from '../../../support/mcp/offeringServer';
import { until } from '../../../support/until';

describe('/mcp in several processes', () => {
  const { tools, state } = createOfferedTools();
  const processes: { readonly module: AIModule; readonly api: HttpApi; readonly app: express.Express }[] = [];
  let server: Server;
  let url: string;

  before(async () => {
    const sdk = await importMcpServer();
    server = createServer((request, response) => {
      processes[count++ % processes.length]?.app(request, response);
    });
    let count = 0;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const secrets = [Buffer.alloc(32, 1)];
    for (let each = 0; each < 2; each += 1) {
      const module = createAIModule({ providers: [{ vendor: 'openai', apiKey: 'sk-unused' }] }, { tools });
      const offer = { sdk, tools: ['*'], rootUrl: url, homeUrl: url };
      const api = createHttpApi(module, {
        authenticate: () => ({ userId: 'ann', scopes: ['generate', 'approve'] }),
        mcp: offer,
        secrets,
      });
      const app = express();
      app.use(api.router);
      processes.push({ module, api, app });
    }
  });

  after(async () => {
    await Promise.all(processes.map(({ api }) => api.close()));
    await Promise.all(processes.map(({ module }) => module.close()));
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  for (const revision of REVISIONS)
    it(`lists and calls tools, and aborts them when the client leaves, in ${revision}`, async () => {
      const client = await connect({ url, token: 'any' }, { revision });
      expect((await client.listTools()).tools.map(({ name }) => name)).to.include('add');
      for (let call = 0; call < 3; call += 1) {
        const { structuredContent } = await client.callTool({ name: 'add', arguments: { a: call, b: 1 } });
        expect(structuredContent).to.deep.equal({ sum: call + 1 });
      }
      state.aborted.length = 0;
      const begun = new Promise<void>((resolve) => (state.onWait = resolve));
      const call = client.callTool({ name: 'wait' }).then(
        () => 'answered',
        () => 'gone',
      );
      await begun;
      await client.close();
      await until(() => state.aborted.length === 1);
      expect(await call).to.equal('gone');
    });

  it('takes the answer of a person in another process than the one that asked', async () => {
    const client = await connect(
      { url, token: 'any' },
      {
        capabilities: { elicitation: {} },
        prepare: (each) =>
          each.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { approve: true } })),
      },
    );
    state.sent.length = 0;
    await client.callTool({ name: 'send', arguments: { text: 'over there' } });
    expect(state.sent.map(({ text }) => text)).to.deep.equal(['over there']);
    await client.close();
  });

  it('says that it cannot ask clients of earlier revisions, since they have no session', async () => {
    const client = await connect({ url, token: 'any' }, { revision: '2025-11-25', capabilities: { elicitation: {} } });
    const { content } = await client.callTool({ name: 'send', arguments: { text: 'x' } });
    expect(JSON.stringify(content)).to.include('this server keeps no session').and.include('MCP_SESSIONS');
    await client.close();
  });
});
