import { expect } from 'chai';
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { ToolExecutionLoop } from '../../../imports/business/ai/application/services/ToolExecutionLoop';
import { ToolProcessor } from '../../../imports/business/ai/application/services/ToolProcessor';
import * as Message from '../../../imports/business/ai/domain/entities/Message';
import { LLMInvalidRequestError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { failure } from '../../support/failure';
import { answer, calling } from '../../../imports/testing/responses';
import { ScriptedProvider } from '../../../imports/testing/ScriptedProvider';

describe('the names of the specification', () => {
  const registry = () => new ToolRegistry().register({ name: 'clock', execute: () => 'noon' });

  it('include toolCall in the payloads of tool events, which is not serialized', async () => {
    const provider = new ScriptedProvider([calling({ name: 'clock' }), answer('Noon.')]);
    const loop = new AgenticLoop({ provider, toolExecutor: registry() });
    const states: string[] = [];
    const record = ({ toolCall }: { readonly toolCall: { readonly name: string; readonly state: string } }): void =>
      void states.push(`${toolCall.name} ${toolCall.state}`);
    loop.on('tool:pending', record);
    loop.on('tool:executing', record);
    loop.on('tool:completed', (event) => {
      record(event);
      expect(event.toolCall.id).to.equal(event.callId);
      expect(JSON.parse(JSON.stringify(event))).not.to.have.property('toolCall');
    });
    await loop.execute('ann', { model: 'm', input: 'Time?', tools: ['clock'] });
    expect(states).to.deep.equal(['clock pending', 'clock executing', 'clock completed']);
  });

  it('include MessageRole and ContentType in entities/Message', () => {
    expect(Message.MessageRole.USER).to.equal('user');
    expect(Message.ContentType).to.include({ INPUT_TEXT: 'input_text' });
  });

  it('include ToolProcessor.processToolCalls', async () => {
    const results = await new ToolProcessor({ toolExecutor: registry() }).processToolCalls(
      [
        { call_id: 'c1', name: 'clock', arguments: '{}' },
        { call_id: 'c2', name: 'nothing', arguments: '{}' },
      ],
      { userId: 'ann', tools: ['clock'] },
    );
    expect(results.map(({ call_id, state }) => [call_id, state])).to.deep.equal([
      ['c1', 'completed'],
      ['c2', 'failed'],
    ]);
    expect(results[0]?.content).to.equal('noon');
  });

  it('are asked for by an LLMInvalidRequestError where one is missing', async () => {
    const loop = new AgenticLoop({ provider: new ScriptedProvider() } as never);
    const noExecutor = await failure(loop.execute('ann', { model: 'm', input: 'Hi', tools: ['clock'] }));
    expect(noExecutor).to.be.instanceOf(LLMInvalidRequestError).and.to.have.property('path', 'toolExecutor');
    const toolExecutor = { execute: () => '', hasToolFunction: () => true, getToolDefinition: () => undefined };
    const run = new ToolExecutionLoop({ toolExecutor }).run({ initialResponse: {}, adapter: {} } as never);
    expect(await failure(run))
      .to.be.instanceOf(LLMInvalidRequestError)
      .and.to.have.property('path', 'tools');
  });
});
