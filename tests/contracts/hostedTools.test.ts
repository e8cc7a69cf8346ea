/** Tools that run at a vendor: found in every wire's requests, and refused to those who may not use them. */
import { expect } from 'chai';
import type { AccessPolicy } from '../../imports/business/ai/domain/interfaces/AccessPolicy';
import type { JsonObject, WireName } from '../../imports/business/ai/domain/types/VendorTypes';
import { findHostedTools } from '../../imports/business/ai/infrastructure/vendors/findHostedTools';
import type { Provider } from '../../imports/business/providers/domain/entities/Provider';
import { createAccessPolicy } from '../../imports/host/accessPolicy';
import { settingsFromEnvironment } from '../../imports/host/settings/vendors';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';

const FOUND: readonly [WireName, JsonObject, readonly string[]][] = [
  ['responses', { tools: [{ type: 'web_search_preview_2025_03_11' }, { type: 'function' }] }, ['web_search']],
  ['responses', { tools: [{ type: 'namespace', tools: [{ type: 'mcp' }] }] }, ['mcp']],
  ['responses', { input: [{ type: 'additional_tools', tools: [{ type: 'code_interpreter' }] }] }, ['code_interpreter']],
  [
    'responses',
    { tools: [{ type: 'computer_use_preview' }, { type: 'computer' }, { type: 'image_generation' }] },
    ['image_generation'],
  ],
  ['responses', { tools: [{ type: 'shell', environment: { type: 'local' } }, { type: 'apply_patch' }] }, []],
  ['responses', { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] }, ['shell']],
  ['responses', { tools: [{ type: 'x_search' }] }, ['x_search']],
  ['chat_completions', { web_search_options: {} }, ['web_search']],
  ['chat_completions', { search_parameters: { mode: 'auto' } }, ['web_search']],
  ['chat_completions', { search_parameters: { mode: 'off' } }, []],
  ['chat_completions', { data_sources: [{ type: 'azure_search' }] }, ['file_search']],
  ['chat_completions', { tools: [{ type: 'browser_search' }, { type: 'custom' }] }, ['web_search']],
  ['chat_completions', { compound_custom: { tools: { enabled_tools: ['code_interpreter'] } } }, ['code_interpreter']],
  // Hosts that are written in Go read names in any case.
  ['chat_completions', { tools: [], Tools: [{ type: 'browser_search' }] }, ['web_search']],
  ['chat_completions', { tools: [{ type: 'function', Type: 'mcp' }] }, ['mcp']],
  ['chat_completions', { Web_Search_Options: {} }, ['web_search']],
  ['responses', { TOOLS: [{ type: 'namespace', Tools: [{ type: 'mcp' }] }] }, ['mcp']],
  [
    'responses',
    { tools: [{ type: 'shell', environment: { type: 'local' }, Environment: { type: 'container_auto' } }] },
    ['shell'],
  ],
  ['chat_completions', { Compound_Custom: { Tools: { Enabled_Tools: ['wolfram_alpha'] } } }, ['wolfram_alpha']],
  ['chat_completions', { Plugins: [{ ID: 'web' }] }, ['web_search']],
  ['anthropic_messages', { MCP_Servers: [{ url: 'x' }] }, ['mcp']],
  // A long s is an s to them, and a Kelvin sign a k.
  ['chat_completions', { 'tool\u017f': [{ type: 'browser_search' }] }, ['web_search']],
  [
    'anthropic_messages',
    { tools: [{ name: 'f' }, { type: 'bash_20250124' }, { type: 'web_search_20250305' }] },
    ['web_search'],
  ],
  [
    'anthropic_messages',
    { tools: [{ type: 'code_execution_20250825' }], mcp_servers: [{ url: 'x' }] },
    ['code_interpreter', 'mcp'],
  ],
  ['anthropic_messages', { tools: [{ type: 'tool_search_tool_bm25_20251119' }, { type: 'memory_20250818' }] }, []],
  [
    'gemini',
    { tools: [{ functionDeclarations: [], google_search: {} }, { codeExecution: {} }] },
    ['web_search', 'code_interpreter'],
  ],
  ['anthropic_messages', { tools: [{ type: 'computer_20251124' }, { type: 'browser_toolset_20260801' }] }, []],
  ['interactions', { tools: [{ type: 'computer_use', environment: 'browser' }] }, []],
  ['gemini', { tools: [{ computerUse: { environment: 'ENVIRONMENT_BROWSER' } }] }, []],
  ['gemini', { tools: [{ urlContext: {} }, { retrieval: {} }] }, ['url_context', 'file_search']],
];

describe('hosted tools', () => {
  for (const [wire, request, names] of FOUND)
    it(`of ${wire} are ${names.join(', ') || 'none'} in ${JSON.stringify(request)}`, () => {
      expect(findHostedTools(wire, request)).to.deep.equal(names);
    });

  it('are permitted per provider, by settings', () => {
    const KEYS = { OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b', GROQ_API_KEY: 'c' };
    const { providers } = settingsFromEnvironment({ ...KEYS, LLM_HOSTED_TOOLS: 'openai/web_search, anthropic/none' });
    expect(Object.fromEntries(providers.map(({ id, hostedTools }) => [id, hostedTools]))).to.deep.equal({
      openai: ['web_search'],
      anthropic: [],
      groq: undefined,
    });
    for (const LLM_HOSTED_TOOLS of ['web_search', 'openai/', 'google/mcp'])
      expect(() => settingsFromEnvironment({ ...KEYS, LLM_HOSTED_TOOLS }), LLM_HOSTED_TOOLS).to.throw(
        'LLM_HOSTED_TOOLS',
      );
  });
});

describe('the access policy on hosted tools', () => {
  const provider: Provider = {
    _id: 'p',
    name: 'P',
    vendor: 'openai',
    auth: { kind: 'api_key' },
    owner: 'owner',
    access: { kind: 'everyone' },
    enabled: true,
    hostedTools: ['web_search'],
    createdAt: 0,
    updatedAt: 0,
  };
  const decide = (userId: string, used: readonly string[], found = provider): ReturnType<AccessPolicy['decide']> =>
    createAccessPolicy(
      { find: () => Promise.resolve(found), lastRead: () => found, isEmpty: () => Promise.resolve(false) },
      (id) => Promise.resolve({ userId: id, isAdmin: id === 'admin' }),
    ).decide({ userId, source: 'http' }, { providerId: 'p', tools: [], hostedTools: used });

  it('permits what an API token lists, the server’s tools too, also to admins', async () => {
    const tools: Readonly<Record<string, readonly string[]>> = { narrow: ['look_up', 'hosted:web_search'], none: [] };
    const policy = createAccessPolicy(
      { find: () => Promise.resolve(provider), lastRead: () => provider, isEmpty: () => Promise.resolve(false) },
      (userId) => Promise.resolve({ userId, isAdmin: userId === 'admin' }),
      { findToken: (id) => Promise.resolve(tools[id] === undefined ? {} : { tools: tools[id] }) },
    );
    for (const userId of ['ann', 'admin']) {
      const actorWith = (tokenId: string) => ({ userId, source: 'http', tokenId }) as const;
      const use = (tokenId: string, named: readonly string[], hostedTools: readonly string[] = []) =>
        policy.decide(actorWith(tokenId), { providerId: 'p', tools: named, hostedTools });
      expect(await use('narrow', ['look_up'], ['web_search'])).to.deep.equal({ allowed: true });
      expect(await use('narrow', ['look_up', 'erase'])).to.deep.equal({
        allowed: false,
        reason: 'Your API token may not use the tool "erase".',
      });
      expect(await use('none', [], ['web_search'])).to.have.property('allowed', false);
      expect(await use('none', [])).to.deep.equal({ allowed: true });
      expect(await use('open', ['erase'], ['web_search'])).to.deep.equal({ allowed: true });
      expect(await policy.refusalOfTool!(actorWith('narrow'), 'erase')).to.include('"erase"');
      expect(await policy.refusalOfTool!(actorWith('narrow'), 'look_up')).to.equal(undefined);
      expect(await policy.refusalOfTool!(actorWith('open'), 'erase')).to.equal(undefined);
    }
  });

  it('permits what the provider lists, and everything to admins and its owner', async () => {
    expect(await decide('ann', ['web_search'])).to.deep.equal({ allowed: true });
    expect(await decide('ann', ['web_search', 'mcp'])).to.deep.equal({
      allowed: false,
      reason: 'You may not use the tool "mcp" of the provider "p".',
    });
    for (const user of ['admin', 'owner']) expect(await decide(user, ['mcp'])).to.deep.equal({ allowed: true });
    const { hostedTools: _, ...open } = provider;
    expect(await decide('ann', ['mcp'], open)).to.deep.equal({ allowed: true });
  });
});

describe('the gateway with a policy on hosted tools', () => {
  let gateway: Gateway;
  before(async () => {
    const access: AccessPolicy = {
      decide: ({ userId }, { hostedTools = [] }) =>
        Promise.resolve(
          userId === 'bob' && hostedTools.includes('web_search')
            ? { allowed: false, reason: 'You may not use the tool "web_search".' }
            : { allowed: true },
        ),
    };
    gateway = await startGateway({ api: { access } });
  });
  after(() => gateway.close());

  const MESSAGES = [{ role: 'user', content: 'Hi' }];
  const REQUESTS: Readonly<Record<string, JsonObject>> = {
    '/v1/responses': { model: 'openai', input: 'Hi', tools: [{ type: 'web_search' }] },
    '/v1/messages': {
      model: 'anthropic',
      max_tokens: 9,
      messages: MESSAGES,
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    },
    '/v1/messages/batches': {
      requests: [
        {
          custom_id: 'a',
          params: {
            model: 'claude-sonnet-4-5',
            max_tokens: 9,
            messages: MESSAGES,
            tools: [{ type: 'web_search_20250305', name: 'web_search' }],
          },
        },
      ],
    },
    '/v1beta/models/google:generateContent': {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      tools: [{ googleSearch: {} }],
    },
  };
  for (const [path, body] of Object.entries(REQUESTS))
    it(`refuses the tool over ${path}, by name and unsent`, async () => {
      const post = (user: 'ann' | 'bob', given: JsonObject): Promise<Response> =>
        gateway.request(path, given, { headers: { authorization: `Bearer ${TOKENS[user]}` } });
      const before = gateway.simulator.requests.length;
      const refused = await post('bob', body);
      expect(refused.status).to.equal(403);
      expect(await refused.text()).to.include('You may not use the tool \\"web_search\\".');
      expect(gateway.simulator.requests).to.have.length(before);
      expect((await post('ann', body)).status).to.equal(200);
    });
});
