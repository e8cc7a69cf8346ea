/** Memories on the server: over HTTP, recalled in runs and chats, with tools and vectors of the configured model. */
import { expect } from 'chai';
import { isRecalledMessage } from '../../imports/business/ai/domain/entities/recalledMemories';
import type { Item } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { toMessages } from '../../imports/ui/conversations/toMessages';
import type { RunDetails } from '../../imports/ui/data/DashboardData';
import { startSimulatedServer } from '../support/startSimulatedServer';
import type { SimulatedServer } from '../support/startSimulatedServer';
import { until } from '../support/until';

const TOKEN = 'a-token-for-the-tests-of-memories';

describe('memories on the server', () => {
  let server: SimulatedServer;
  before(async () => {
    server = await startSimulatedServer({
      BOLIDE_API_TOKEN: TOKEN,
      MEMORY_RECALL: 'on',
      MEMORY_TOOLS: 'on',
      MEMORY_EMBEDDING_MODEL: 'openai/text-embedding-3-small',
    });
  });
  after(() => server.close());

  const request = async (method: string, path: string, body?: object): Promise<Readonly<Record<string, unknown>>> => {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(response.status, path).to.be.within(200, 202);
    return (await response.json()) as Readonly<Record<string, unknown>>;
  };
  const sent = (path: string): readonly string[] =>
    server.simulator.requests.filter((each) => each.path.endsWith(path)).map(({ body }) => JSON.stringify(body));
  const run = async (requestId: string, more: object = {}): Promise<void> => {
    const before = sent('/responses').length;
    await request('POST', '/api/runs', { requestId, providerId: 'openai', input: 'Which tea does she like?', ...more });
    await until(() => sent('/responses').length > before);
  };

  it('are saved and found over HTTP, with vectors within the user’s log of model calls', async () => {
    const saved = await request('POST', '/api/memories', { text: 'She likes green tea.' });
    expect(await request('GET', '/api/memories')).to.deep.equal({ memories: [saved], total: 1 });
    const found = await request('GET', '/api/memories/search?query=tea');
    expect(found).to.deep.equal({ memories: [saved], by: 'words-and-meaning' });
    expect(sent('/embeddings')).to.have.length(2);
    await server.host.requestLog.flush();
    const { requests } = (await request('GET', '/api/requests')) as { readonly requests: readonly { api: string }[] };
    expect(requests.map(({ api }) => api)).to.deep.equal(['memory', 'memory']);
  });

  it('are recalled in runs and chats, unless a run says otherwise, and shown to nobody as the user’s words', async () => {
    await run('r1');
    expect(sent('/responses').at(-1)).to.include('recalled_memories').and.include('She likes green tea.');
    await run('r2', { recall: false });
    expect(sent('/responses').at(-1)).to.not.include('recalled_memories');
    const before = sent('/responses').length;
    await request('POST', '/api/input', { message: 'Make me some tea, please.' });
    await until(() => sent('/responses').length > before);
    const chat = sent('/responses').at(-1);
    expect(chat).to.include('She likes green tea.').and.include('"name":"search_memories"');
    const { runs } = (await request('GET', '/api/runs')) as {
      readonly runs: readonly { _id: string; title: string }[];
    };
    expect(runs.map(({ title }) => title))
      .to.include('Which tea does she like?')
      .and.not.match(/recalled/);
    for (const { _id } of runs) {
      const stored = await server.host.module.runs.load(_id);
      const items = stored?.run.transcript as readonly Item[];
      const shown = toMessages({
        run: { input: '[]' },
        items,
        calls: [],
        liveText: { text: '', reasoning: '' },
      } as unknown as RunDetails);
      const hidden = items.filter(isRecalledMessage).length;
      expect(shown.filter(({ role }) => role === 'user')).to.have.length(
        items.filter((item) => item.type === 'message' && item.role === 'user').length - hidden,
      );
    }
  });

  it('are forgotten', async () => {
    expect(await request('DELETE', '/api/memories')).to.deep.equal({ forgotten: 1 });
    expect(await request('GET', '/api/memories/search?query=tea')).to.deep.include({ memories: [] });
  });
});
