/** What TypeScript accepts of the clients for Svelte, Vue and pages. The assertions hold when this file compiles. */
import { expectTypeOf } from 'expect-type';
import type { Readable as SvelteReadable } from 'svelte/store';
import type { ComputedRef, Ref } from 'vue';
import type { BolideChatElement, defineBolideChat } from '../../../../imports/entries/element';
import * as svelte from '../../../../imports/entries/svelte';
import type { Conversation, ConversationMessage, LiveRun, RunData } from '../../../../imports/entries/svelte';
import * as vue from '../../../../imports/entries/vue';

type ConversationRefs = ReturnType<typeof vue.useConversation>;

describe('the types of the clients', () => {
  it('for Svelte are those of its stores', () => {
    expectTypeOf(svelte.createConversation).returns.toExtend<SvelteReadable<Conversation>>();
    expectTypeOf(svelte.createRun).returns.toExtend<SvelteReadable<LiveRun>>();
    expectTypeOf(svelte.createHttpData).returns.toExtend<RunData>();
    expectTypeOf(svelte.createConversation).toBeCallableWith({} as RunData, {
      model: 'openai',
      tools: ['get_weather'],
    });
    const data = {} as RunData;
    // @ts-expect-error There is no option `tool`.
    expectTypeOf(() => svelte.createConversation(data, { model: 'openai', tool: 'a' })).toBeFunction();
    // @ts-expect-error A conversation has `messages`.
    expectTypeOf<Conversation['message']>().toBeArray();
    // @ts-expect-error `createRun` takes an id, no options.
    expectTypeOf(svelte.createRun).toBeCallableWith({} as RunData, { executionId: 'r' });
  });

  it('for Vue are refs and functions', () => {
    expectTypeOf<ConversationRefs['messages']>().toEqualTypeOf<ComputedRef<readonly ConversationMessage[]>>();
    expectTypeOf<ConversationRefs['status']>().toEqualTypeOf<ComputedRef<Conversation['status']>>();
    expectTypeOf<ConversationRefs['send']>().toEqualTypeOf<Conversation['send']>();
    expectTypeOf(vue.useRun).toBeCallableWith({} as RunData, () => undefined);
    expectTypeOf(vue.useRun).toBeCallableWith({} as RunData, {} as Ref<string>);
    // @ts-expect-error A conversation has `messages`.
    expectTypeOf<ConversationRefs['message']>().toBeObject();
    const data = {} as RunData;
    // @ts-expect-error There is no option `tool`.
    expectTypeOf(() => vue.useConversation(data, { model: 'openai', tool: 'a' })).toBeFunction();
    // @ts-expect-error A status is a ref.
    expectTypeOf<ConversationRefs['status']>().toBeString();
  });

  it('for plain pages are those of an element', () => {
    const chat = {} as HTMLElementTagNameMap['bolide-chat'];
    expectTypeOf(chat).toEqualTypeOf<BolideChatElement>();
    expectTypeOf(chat.conversation).toEqualTypeOf<Conversation | undefined>();
    expectTypeOf<typeof defineBolideChat>().toBeCallableWith({ data: {} as RunData });
    // @ts-expect-error An element has `conversation`.
    expectTypeOf(chat.conversations).toBeObject();
    // @ts-expect-error The name of an element has a hyphen.
    expectTypeOf<typeof defineBolideChat>().toBeCallableWith({ name: 'chat' });
  });
});
