/** Refuses a request that exceeds the context window, with the words of each vendor. */
import type { Conversation } from '../model/Conversation';
import { countInputTokens } from '../model/countTokens';
import { vendorProfile } from '../vendorProfiles';
import { reject } from './Rejection';
import type { Rejection } from './Rejection';

/** @param window in tokens */
export function checkWindow(conversation: Conversation, window: number): Rejection | undefined {
  const tokens = countInputTokens(conversation);
  if (tokens <= window) return undefined;
  switch (vendorProfile(conversation.vendor).errors) {
    case 'anthropic':
      return reject(`prompt is too long: ${tokens} tokens > ${window} maximum`);
    case 'google':
      return reject(`The input token count (${tokens}) exceeds the maximum number of tokens allowed (${window}).`);
    case 'xai':
      return reject(`This model's maximum prompt length is ${window} but the request contains ${tokens} tokens.`);
    case 'groq':
      return reject('Please reduce the length of the messages or completion.', { code: 'context_length_exceeded' });
    case 'openai':
    case 'azure':
      return conversation.wire === 'responses'
        ? reject('Your input exceeds the context window of this model. Please adjust your input and try again.', {
            param: 'input',
            code: 'context_length_exceeded',
          })
        : reject(
            `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} ` +
              'tokens. Please reduce the length of the messages.',
            { param: 'messages', code: 'context_length_exceeded' },
          );
  }
}
