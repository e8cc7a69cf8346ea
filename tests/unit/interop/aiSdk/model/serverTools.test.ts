import { generateText, streamText } from 'ai';
import type { ModelMessage, ToolSet } from 'ai';
import { expect } from 'chai';
import { z } from 'zod';
import type {
  InputItem,
  LLMResponse,
  OutputItem,
} from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { createBolide } from '../../../../../imports/interop/aiSdk/model/createBolide';
import { answer, response, textItem } from '../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../imports/testing/ScriptedProvider';
import { silenceAISDKWarnings } from '../../../../support/silenceAISDKWarnings';

const OPENAI = { wire: 'responses', vendor: 'openai' } as const;
const ANTHROPIC = { wire: 'anthropic_messages', vendor: 'anthropic' } as const;
const GOOGLE = { wire: 'gemini', vendor: 'google' } as const;

function block(item: Record<string, unknown>, origin: typeof ANTHROPIC | typeof GOOGLE = ANTHROPIC): OutputItem {
  return { type: 'vendor_item', origin, item };
}

const search = {
  type: 'provider',
  isProviderExecuted: true,
  id: 'bolide.web_search',
  args: {},
  inputSchema: z.unknown(),
  outputSchema: z.unknown(),
} as const;

const MODES = {
  generateText: async (provider: ScriptedProvider, tools: ToolSet) =>
    generateText({ model: createBolide({ provider })('scripted/m'), prompt: 'go', tools }).then(
      ({ content, responseMessages, sources }) => ({ content, responseMessages, sources }),
    ),
  streamText: async (provider: ScriptedProvider, tools: ToolSet) => {
    const result = streamText({ model: createBolide({ provider })('scripted/m'), prompt: 'go', tools });
    await result.consumeStream();
    return {
      content: await result.content,
      responseMessages: await result.responseMessages,
      sources: await result.sources,
    };
  },
};

for (const [mode, run] of Object.entries(MODES)) {
  describe(`Tools that vendors run, with ${mode}`, () => {
    silenceAISDKWarnings();

    const play = (output: readonly OutputItem[], tools: ToolSet = {}): ReturnType<typeof run> =>
      run(new ScriptedProvider([response({ output })]), tools);

    it("names a call after the application's tool, and gives its result", async () => {
      const item = {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        action: { query: 'x' },
        origin: OPENAI,
      } as const;
      const { content } = await play([item, textItem('Found.')], { find: search });
      expect(content[0]).to.deep.include({ type: 'tool-call', toolName: 'find', providerExecuted: true });
      expect(content[0])
        .to.have.property('input')
        .that.deep.equals({ action: { query: 'x' } });
      expect(content[1]).to.deep.include({ type: 'tool-result', toolName: 'find', toolCallId: 'ws_1' });
      expect(content[1]).to.have.nested.property('output.status', 'completed');
    });

    it('makes a call of an unnamed tool dynamic', async () => {
      const { content } = await play([
        block({ type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'x' } }),
        block({
          type: 'web_search_tool_result',
          tool_use_id: 'srv_1',
          content: [{ type: 'web_search_result', url: 'https://a.example', title: 'A' }],
        }),
      ]);
      expect(content[0]).to.deep.include({ type: 'tool-call', toolName: 'web_search', dynamic: true });
      expect(content[1]).to.deep.include({ type: 'tool-result', toolCallId: 'srv_1' });
    });

    it('lists what was found and cited as sources, each once', async () => {
      const cited = { type: 'url_citation', url: 'https://b.example', title: 'B', start_index: 0, end_index: 2 };
      const text = { type: 'output_text', text: 'Bb', annotations: [cited, cited] } as const;
      const { sources } = await play([
        block({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
        block({
          type: 'web_search_tool_result',
          tool_use_id: 's',
          content: [{ type: 'web_search_result', url: 'https://a.example', title: 'A' }],
        }),
        { type: 'message', role: 'assistant', content: [text] },
      ]);
      expect(sources.map((source) => (source.sourceType === 'url' ? source.url : source.title))).to.deep.equal([
        'https://a.example',
        'https://b.example',
      ]);
      expect(new Set(sources.map(({ id }) => id)).size).to.equal(2);
    });

    it("reports a server tool's failure as an error", async () => {
      const { content } = await play([
        block({ type: 'server_tool_use', id: 's', name: 'web_fetch', input: {} }),
        block({
          type: 'web_fetch_tool_result',
          tool_use_id: 's',
          content: { type: 'web_fetch_tool_result_error', error_code: 'url_not_accessible' },
        }),
      ]);
      expect(content[1]).to.deep.include({ type: 'tool-error', toolName: 'web_fetch' });
    });

    it("pairs the results of Gemini's code with the code", async () => {
      const { content } = await play([
        block({ executableCode: { language: 'PYTHON', code: 'print(1)' } }, GOOGLE),
        block({ codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } }, GOOGLE),
      ]);
      expect(content[0]).to.deep.include({ type: 'tool-call', toolName: 'code_execution' });
      expect(content[1]).to.have.nested.property('output.output', '1');
    });

    it('asks for the approval of an MCP call, and sends the decision back', async () => {
      const request = {
        type: 'mcp_approval_request',
        id: 'mcpr_1',
        name: 'delete',
        arguments: '{"all":true}',
        server_label: 'files',
        origin: OPENAI,
      } as const;
      const { content, responseMessages } = await play([request]);
      expect(content.map(({ type }) => type)).to.include('tool-approval-request');
      const decision: ModelMessage = {
        role: 'tool',
        content: [{ type: 'tool-approval-response', approvalId: 'mcpr_1', approved: true, providerExecuted: true }],
      };
      const provider = new ScriptedProvider([answer('Deleted.')]);
      await generateText({
        model: createBolide({ provider })('scripted/m'),
        messages: [{ role: 'user', content: 'go' }, ...responseMessages, decision],
      });
      expect((provider.calls[0]!.options.input as readonly InputItem[]).slice(1)).to.deep.equal([
        request,
        { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
      ]);
    });

    it('returns generated images as files', async () => {
      const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
      const items = [
        { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: pixel, origin: OPENAI },
        block({ inlineData: { mimeType: 'image/png', data: pixel }, thoughtSignature: 'sig' }, GOOGLE),
      ] as const satisfies readonly OutputItem[];
      const { content, responseMessages } = await play(items);
      expect(content.map((part) => (part.type === 'file' ? part.file.base64 : part.type))).to.deep.equal([
        pixel,
        pixel,
      ]);
      const provider = new ScriptedProvider([answer('Nice.')]);
      await generateText({
        model: createBolide({ provider })('scripted/m'),
        messages: [{ role: 'user', content: 'go' }, ...responseMessages, { role: 'user', content: 'Thanks.' }],
      });
      expect((provider.calls[0]!.options.input as readonly InputItem[]).slice(1, -1)).to.deep.equal(items);
    });

    it('never offers a call that was cut off to the application', async () => {
      const cut: LLMResponse = response({
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        output: [{ type: 'function_call', call_id: 'c', name: 'find', arguments: '{}', status: 'incomplete' }],
      });
      const { content } = await run(new ScriptedProvider([cut]), { find: search });
      expect(content).to.deep.equal([]);
    });
  });
}
