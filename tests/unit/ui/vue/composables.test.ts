import { expect } from 'chai';
import { effectScope, ref, watchSyncEffect } from 'vue';
import type { ConversationOptions } from '../../../../imports/ui/conversations/observeConversation';
import { useConversation, useRun } from '../../../../imports/ui/vue/composables';
import { FakeRunData, inPage } from '../../../support/FakeRunData';

describe('the composables for Vue', () => {
  it('follow the run that a ref names, until their scope ends', () =>
    inPage(() => {
      const data = new FakeRunData();
      data.setText('one', 'Fog', 'completed');
      data.setText('two', 'Rain', 'running');
      const scope = effectScope();
      const id = ref<string>();
      const seen: string[] = [];
      scope.run(() => {
        const { status, text } = useRun(data, id);
        watchSyncEffect(() => seen.push(`${status.value} ${text.value}`));
      });
      id.value = 'one';
      id.value = 'two';
      data.setText('two', 'Rain falls.', 'running');
      expect(seen.filter((each, index) => each !== seen[index - 1])).to.deep.equal([
        'idle ',
        'completed Fog',
        'running Rain',
        'running Rain falls.',
      ]);
      expect(data.subscribers).to.equal(1);
      scope.stop();
      expect(data.subscribers).to.equal(0);
    }));

  it('send to the conversation and the model that a getter returns', () =>
    inPage(async () => {
      const data = new FakeRunData();
      const [id, model] = [ref('fog'), ref('openai')];
      const scope = effectScope();
      await scope.run(async () => {
        const { messages, send, status } = useConversation(data, () => ({ id: id.value, model: model.value }));
        await send('One');
        data.setText('fog', 'Fog', 'completed');
        expect(messages.value.flatMap(({ parts }) => parts)).to.deep.include({
          type: 'text',
          text: 'Fog',
          isStreaming: true,
        });
        id.value = 'rain';
        model.value = 'grok';
        expect([messages.value.length, status.value]).to.deep.equal([0, 'ready']);
        await send('Two');
      });
      scope.stop();
      const sent = data.called.map(({ argument }) => argument as Readonly<Record<string, unknown>>);
      expect(sent.map(({ conversationId, providerId, input }) => [conversationId, providerId, input])).to.deep.equal([
        ['fog', 'openai', 'One'],
        ['rain', 'grok', 'Two'],
      ]);
    }));

  it('say which option is missing if no model is named', () =>
    inPage(async () => {
      const data = new FakeRunData();
      const scope = effectScope();
      await scope.run(async () => {
        // A program without types.
        const options = { id: 'fog' } as unknown as ConversationOptions;
        for (const each of [options, { ...options, model: '' }]) {
          const { error, send } = useConversation(data, each);
          await send('One');
          expect(error.value).to.have.property('code', 'invalid-request');
          expect(error.value?.message).to.match(/^"model" is missing\. Name a provider, such as "openai"/);
        }
      });
      scope.stop();
      expect(data.called).to.deep.equal([]);
    }));
});
