/** What each turn of a conversation sends, and how tool calls are answered. */
import { expect } from 'chai';
import {
  normalizeInput,
  normalizeOptions,
} from '../../../../../imports/business/ai/application/services/ContentNormalizer';
import {
  acknowledgement,
  buildRequest,
  deferredOutput,
  toolOutput,
} from '../../../../../imports/business/ai/application/services/MessageBuilder';
import { assistantMessage, userMessage } from '../../../../../imports/business/ai/domain/entities/Message';
import type { FunctionTool, ToolResult } from '../../../../../imports/business/ai/domain/entities/Tool';
import type { GenerateOptions } from '../../../../../imports/business/ai/domain/types/LLMTypes';
import type { Item } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';

const TOOL: FunctionTool = { type: 'function', name: 'f' };
const transcript: readonly Item[] = [
  userMessage('weather?'),
  { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
  toolOutput({ call_id: 'c1', content: 'sunny', executionTime: 3, state: 'completed' }, 'f'),
];
const base: GenerateOptions = Object.freeze({
  model: 'm',
  input: 'weather?',
  instructions: 'be brief',
  temperature: 0.5,
  store: true,
  metadata: { run: '1' },
});

describe('buildRequest', () => {
  it('sends the entire transcript with the caller’s options', () => {
    expect(buildRequest({ base, transcript, tools: [TOOL] })).to.deep.equal({
      ...base,
      input: [...transcript],
      tools: [TOOL],
    });
  });

  it('sends a copy, so that later additions do not change the request', () => {
    const growing = [...transcript];
    const request = buildRequest({ base, transcript: growing });
    growing.push(assistantMessage('sunny'));
    expect(request.input).to.have.length(3);
  });

  it('sends only new items if the vendor stores the conversation', () => {
    const request = buildRequest({ base, transcript, sent: { responseId: 'resp_1', upTo: 2 } });
    expect(request).to.deep.equal({ ...base, previous_response_id: 'resp_1', input: [transcript[2]] });
  });

  it('continues from the newest response of the caller’s chain', () => {
    const chained = { ...base, previous_response_id: 'resp_0' };
    expect(buildRequest({ base: chained, transcript })).to.have.property('previous_response_id', 'resp_0');
    expect(buildRequest({ base: chained, transcript, sent: { responseId: 'resp_1', upTo: 3 } }))
      .to.include({ previous_response_id: 'resp_1' })
      .and.have.deep.property('input', []);
  });

  it("offers the given tools, and the caller's where none are given", () => {
    const offering = { ...base, tools: [TOOL] };
    expect(buildRequest({ base: offering, transcript }).tools).to.deep.equal([TOOL]);
    expect(buildRequest({ base: offering, transcript, tools: [] }).tools).to.deep.equal([]);
  });

  it('builds requests that the normalizer returns unchanged', () => {
    const request = buildRequest({ base, transcript, tools: [TOOL] });
    expect(normalizeOptions(request)).to.deep.equal(request);
  });
});

describe('tool outputs', () => {
  const result: ToolResult = { call_id: 'c1', content: '{"t":20}', executionTime: 12, state: 'completed' };

  it('pass on the result unchanged, with the name and state of its call', () => {
    expect(toolOutput(result, 'f')).to.deep.equal({
      type: 'function_call_output',
      call_id: 'c1',
      output: '{"t":20}',
      status: 'completed',
      name: 'f',
      state: 'completed',
    });
  });

  it('state how a call failed', () => {
    const failed: ToolResult = {
      call_id: 'c1',
      content: 'Error: no such city',
      executionTime: 1,
      state: 'failed',
      error: { failure: 'threw', message: 'no such city' },
    };
    expect(toolOutput(failed, 'f')).to.include({ output: 'Error: no such city', state: 'failed' });
  });

  it('acknowledge a running call and instruct the model not to guess its result', () => {
    const item = acknowledgement('c1', 'f');
    expect(item).to.include({ type: 'function_call_output', call_id: 'c1', status: 'in_progress', name: 'f' });
    expect(item.output)
      .to.match(/accepted/)
      .and.contain('c1')
      .and.contain('The result will follow as a message; do not guess it.');
    expect(item).not.to.have.property('deferred');
  });

  it('mark a result that follows an acknowledgement', () => {
    expect(deferredOutput(result, 'f')).to.deep.equal({ ...toolOutput(result, 'f'), deferred: true });
  });

  it('repair text that a tool cut in the middle of a character', () => {
    const item = toolOutput({ ...result, content: '😀'.slice(0, 1) + 'x😀' }, 'f');
    expect(item.output).to.equal('\ufffdx😀');
    expect(normalizeInput([item])).to.deep.equal([item]);
  });
});
