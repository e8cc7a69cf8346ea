/** Forms in which the examples of the specification read what they get. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { LLMClient } from '../../../imports/business/ai/application/services/LLMClient';
import { ResilientProvider } from '../../../imports/business/ai/application/services/routing/ResilientProvider';
import { LLMRateLimitError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling, refusing } from '../../../imports/testing/responses';
import { ScriptedProvider } from '../../../imports/testing/ScriptedProvider';
import { failure } from '../../support/failure';
import { RecordingLogger } from '../../support/RecordingLogger';

describe('The result of a run', () => {
  const setUp = (): AgenticLoop =>
    new AgenticLoop({
      provider: new ScriptedProvider([calling({ name: 'f', call_id: 'c', arguments: { a: 1 } }), answer('Done.')]),
      toolExecutor: new ToolRegistry().register({ name: 'f', execute: () => 'result' }),
    });

  it('has the text of the answer', async () => {
    const { output_text } = await setUp().execute('ann', { model: 'm', input: 'Go.', tools: ['f'] });
    expect(output_text).to.equal('Done.');
  });

  it('is preceded by events whose calls have their name and arguments in "function", too', async () => {
    const loop = setUp();
    const functions: unknown[] = [];
    loop.on('tool:completed', ({ toolCall }) => functions.push(toolCall.function));
    await loop.execute('ann', { model: 'm', input: 'Go.', tools: ['f'] });
    expect(functions).to.deep.equal([{ name: 'f', arguments: '{"a":1}' }]);
  });
});

describe('The client for structured requests', () => {
  const setUp = (script: ConstructorParameters<typeof ScriptedProvider>[0]) => {
    const logger = new RecordingLogger();
    const upstream = new ScriptedProvider(script, { capabilities: { keepsState: true } });
    const provider = new ResilientProvider({ provider: upstream, sleep: () => Promise.resolve() });
    const entities = [{ identity: { id: 'bob' } }];
    const client = new LLMClient({ provider, userId: 'ann', model: 'm', defaultDepth: 1, entities, logger });
    return { client, logger };
  };

  it('logs requests, responses and chains at the level debug', async () => {
    const { client, logger } = setUp([answer('Fine.', { id: 'one' })]);
    await client.createResponse({ input: 'How are you?', entityKey: 'mood:bob' });
    expect(logger.debugs).to.deep.equal([
      'A request is sent.',
      'A response was received.',
      'The chain of "mood:bob" continues.',
    ]);
  });

  it('warns that the rate of its requests is limited', async () => {
    const { client, logger } = setUp([new LLMRateLimitError('Slow down.'), answer('Fine.')]);
    await client.createResponse({ input: 'How are you?' });
    expect(logger.warnings).to.have.length(1);
  });

  it('logs an error before it throws it', async () => {
    const { client, logger } = setUp([refusing('I do not want to.')]);
    const error = await failure(client.createResponse({ input: 'How are you?' }));
    expect(logger.errors).to.deep.equal([`A request failed: ${(error as Error).message}`]);
  });
});
