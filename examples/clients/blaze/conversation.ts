import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { Template } from 'meteor/templating';
import { Tracker } from 'meteor/tracker';
import { createMeteorHelpers } from 'bolide/meteor-client';
import type { ToolPart } from 'bolide/meteor-client';

const { createConversation } = createMeteorHelpers({ Meteor, Mongo, Tracker });
const conversation = createConversation({ id: 'support', model: 'openai', tools: ['send_reminder'] });

Template.chat.helpers({
  conversation: () => conversation.get(),
  isAsking: ({ state }: ToolPart) => state === 'awaiting_approval',
});

Template.chat.events({
  'submit form'(event: SubmitEvent) {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    void conversation.get().send((form.elements.namedItem('text') as HTMLInputElement).value);
    form.reset();
  },
  'click [data-call]'({ currentTarget }: Event) {
    void conversation.get().approve((currentTarget as HTMLElement).dataset['call'] ?? '');
  },
  'click [name=stop]'() {
    void conversation.get().stop();
  },
});
