/** Composables for Vue 3.3 and newer. They follow what they return until their component or effect scope ends. */
import { computed, shallowRef, toValue, watch } from 'vue';
import type { ComputedRef, MaybeRefOrGetter, ShallowRef } from 'vue';
import { follow } from '../conversations/follow';
import { newRequestId } from '../conversations/newRequestId';
import { observeConversation } from '../conversations/observeConversation';
import type { Conversation, ConversationOptions } from '../conversations/observeConversation';
import { observeRun } from '../conversations/observeRun';
import type { LiveRun } from '../conversations/observeRun';
import type { RunData } from '../data/DashboardData';
import type { ReadonlyObservable } from '../data/Observable';

/** The fields of `T`: functions as they are, and anything else as a ref. */
export type Refs<T> = {
  readonly [K in keyof T]: T[K] extends (...args: never) => unknown ? T[K] : ComputedRef<T[K]>;
};

/** @param options may be a ref or a getter: another `id` shows another conversation, the rest is for later messages */
export function useConversation(data: RunData, options: MaybeRefOrGetter<ConversationOptions>): Refs<Conversation> {
  const ownId = newRequestId();
  const id = computed(() => toValue(options).id ?? ownId);
  return useObserved(() => observeConversation(data, id.value, () => toValue(options)));
}

/** @param executionId undefined as long as no run has been started; may be a ref or a getter */
export function useRun(data: RunData, executionId: MaybeRefOrGetter<string | undefined>): Refs<LiveRun> {
  return useObserved(() => observeRun(data, toValue(executionId)));
}

/** @param observe called again when a ref that it reads has changed */
function useObserved<T extends object>(observe: () => ReadonlyObservable<T>): Refs<T> {
  const observable = computed(observe);
  const value: ShallowRef<T> = shallowRef(observable.value.get());
  watch(
    observable,
    (current, _before, onCleanup) => {
      onCleanup(
        follow(current, (next) => {
          value.value = next;
        }),
      );
    },
    { immediate: true, flush: 'sync' },
  );
  const fields = (Object.keys(value.value) as (keyof T)[]).map((name) => {
    if (typeof value.value[name] !== 'function') return [name, computed(() => value.value[name])];
    // The current one: commands that decide about calls are of the newest run.
    return [name, (...args: never[]) => (value.value[name] as (...given: never[]) => unknown)(...args)];
  });
  // Every value has the same fields.
  return Object.fromEntries(fields) as Refs<T>;
}
