/** How tool calls are answered. */
import { expect } from 'chai';
import { normalizeInput } from '../../../../../imports/business/ai/application/services/ContentNormalizer';
import { acknowledgement, deferredOutput, toolOutput } from '../../../../../imports/business/ai/domain/run/toolOutputs';
import type { ToolResult } from '../../../../../imports/business/ai/domain/entities/Tool';

describe('tool outputs', () => {
  const result: ToolResult = { call_id: 'c1', content: '{"t":20}', executionTime: 12, state: 'completed' };

  it('pass on the result unchanged, with the name and state of its call', () => {
    expect(toolOutput(result, 'f', false)).to.deep.equal({
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
    expect(toolOutput(failed, 'f', false)).to.include({ output: 'Error: no such city', state: 'failed' });
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
    expect(deferredOutput(result, 'f', false)).to.deep.equal({ ...toolOutput(result, 'f', false), deferred: true });
  });

  it('repair text that a tool cut in the middle of a character', () => {
    const item = toolOutput({ ...result, content: '😀'.slice(0, 1) + 'x😀' }, 'f', false);
    expect(item.output).to.equal('\ufffdx😀');
    expect(normalizeInput([item])).to.deep.equal([item]);
  });
});
