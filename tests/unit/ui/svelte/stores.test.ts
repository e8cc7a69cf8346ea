import { expect } from 'chai';
import { derived, get } from 'svelte/store';
import { createConversation, createRun } from '../../../../imports/ui/svelte/stores';
import { FakeRunData, inPage } from '../../../support/FakeRunData';

describe('the stores for Svelte', () => {
  it('are followed by the functions of svelte/store, for as long as they have subscribers', () =>
    inPage(() => {
      const data = new FakeRunData();
      data.setText('r', 'Fog', 'running');
      const run = createRun(data, 'r');
      const seen: string[] = [];
      const unsubscribe = derived(run, ({ status, text }) => `${status}: ${text}`).subscribe((each) => seen.push(each));
      data.setText('r', 'Fog drifts', 'running');
      data.setText('r', 'Fog drifts in.', 'completed');
      expect(seen).to.deep.equal(['running: Fog', 'running: Fog drifts', 'completed: Fog drifts in.']);
      unsubscribe();
      expect(data.subscribers).to.equal(0);
      expect(get(run).text).to.equal('Fog drifts in.');
      expect(get(createRun(data, undefined)).status).to.equal('idle');
    }));

  it('send a message with the options of that moment', () =>
    inPage(async () => {
      const data = new FakeRunData();
      let model = 'openai';
      const conversation = createConversation(data, {
        id: 'fog',
        get model() {
          return model;
        },
      });
      model = 'anthropic/claude-sonnet-4-5';
      await get(conversation).send('Hello?');
      expect(data.called).to.have.length(1);
      expect(data.called[0]?.argument).to.include({
        conversationId: 'fog',
        providerId: 'anthropic',
        model: 'claude-sonnet-4-5',
        input: 'Hello?',
      });
    }));

  it('load nothing where a page is rendered on a server', () => {
    const data = new FakeRunData();
    data.setText('r', 'Fog', 'running');
    createRun(data, 'r').subscribe(({ text }) => {
      expect([text, data.subscribers]).to.deep.equal(['Fog', 0]);
    });
  });
});
