/** Requests that have a vendor compact the input, and what becomes of their responses. */
import { expect } from 'chai';
import {
  fromAnthropic,
  toAnthropic,
} from '../../../../../imports/business/ai/infrastructure/converters/anthropic/AnthropicConverter';
import {
  fromResponses,
  toResponses,
} from '../../../../../imports/business/ai/infrastructure/converters/responses/ResponsesConverter';
import { userMessage } from '../../../../../imports/business/ai/domain/entities/Message';
import type { InputItem } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { anthropicContext, anthropicResponseContext } from '../../../../support/anthropicRecordings';
import { assertAnthropicBody } from '../../../../support/publishedSchemas';
import { responsesContext, responsesResponseContext } from '../../../../support/responsesRecordings';

const USER = userMessage('Hello');
const BETA = { 'anthropic-beta': 'compact-2026-09-04' };
const BLOCK = { type: 'compaction', content: 'They said hello.', encrypted_content: null, signature: 'signed' };

describe('compaction on request', () => {
  it('sends to the Responses API what its compaction accepts', () => {
    const options = {
      model: 'gpt-5',
      input: [USER],
      instructions: 'Be brief.',
      compact: true,
      promptCache: { key: 'k' },
    };
    const tools = [{ type: 'function', name: 'look' }] as const;
    const { body } = toResponses({ ...options, tools, temperature: 1 }, responsesContext(), false);
    expect(Object.keys(body).toSorted()).to.deep.equal(['input', 'instructions', 'model', 'prompt_cache_key']);
  });

  it('reads the history that the Responses API returns, and sends it back', () => {
    const wire = {
      id: 'resp_1',
      object: 'response.compaction',
      created_at: 1,
      output: [
        {
          type: 'message',
          id: 'msg_1',
          role: 'user',
          status: 'completed',
          content: [{ type: 'input_text', text: 'Hello' }],
        },
        { type: 'compaction', id: 'cmp_1', encrypted_content: 'sealed' },
      ],
      usage: { input_tokens: 9, output_tokens: 3, total_tokens: 12 },
    };
    const response = fromResponses(wire, responsesResponseContext());
    expect(response).to.include({ status: 'completed', output_text: '' });
    expect(response.vendor.warnings).to.deep.equal([]);
    expect(response.usage).to.include({ input_tokens: 9, output_tokens: 3 });
    const again = toResponses({ model: 'gpt-5', input: [...response.output, USER] }, responsesContext(), false);
    expect(again.losses).to.deep.equal([]);
    expect(again.body.input).to.deep.include({ type: 'compaction', id: 'cmp_1', encrypted_content: 'sealed' });
  });

  it('asks Anthropic with its parameter and its beta, and without what excludes it', () => {
    const vendor = { anthropic: { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } } };
    const options = { model: 'claude-sonnet-4-6', input: [USER], compact: true, vendor };
    const { body, headers } = toAnthropic(options, anthropicContext(), false);
    assertAnthropicBody(body);
    expect(body).to.deep.include({ compaction: { type: 'summarize' } });
    expect(body).to.not.have.property('context_management');
    expect(headers).to.deep.equal(BETA);
  });

  it('counts what Anthropic reports of the compaction, and sends the block first', () => {
    const wire = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-6',
      content: [BLOCK],
      stop_reason: 'compaction',
      usage: {
        input_tokens: 0,
        output_tokens: 0,
        iterations: [{ type: 'compaction', input_tokens: 900, output_tokens: 40, cache_read_input_tokens: 100 }],
      },
    };
    const response = fromAnthropic(wire, anthropicResponseContext());
    expect(response.status).to.equal('completed');
    expect(response.vendor.warnings).to.deep.equal([]);
    expect(response.usage).to.include({ input_tokens: 1_000, output_tokens: 40 });
    const input: readonly InputItem[] = [...response.output, USER];
    const again = toAnthropic({ model: 'claude-sonnet-4-6', input }, anthropicContext(), false);
    assertAnthropicBody(again.body);
    expect(again.headers).to.deep.equal(BETA);
    expect(again.losses).to.deep.equal([]);
    expect(again.body.messages).to.deep.equal([
      { role: 'assistant', content: [BLOCK] },
      { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
    ]);
  });
});
