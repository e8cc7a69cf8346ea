/** A conversation with a model, in a component. */
import { useLayoutEffect, useMemo, useRef, useState } from 'react';
import { observeConversation } from '../conversations/observeConversation';
import type { Conversation, ConversationOptions } from '../conversations/observeConversation';
import { newRequestId } from '../conversations/newRequestId';
import { useData } from './BolideProvider';
import { useObservable } from './useObservable';

export function useConversation(options: ConversationOptions): Conversation {
  const { source } = useData();
  const [ownId] = useState(newRequestId);
  const id = options.id ?? ownId;
  const latest = useRef(options);
  // Before the page is painted, and before anybody can send.
  useLayoutEffect(() => {
    latest.current = options;
  });
  return useObservable(useMemo(() => observeConversation(source, id, () => latest.current), [source, id]));
}
