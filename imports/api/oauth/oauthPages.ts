/** The pages of `/oauth/…`: what they say about each outcome of a flow. */
import { isLLMError } from '../../business/ai/domain/errors/LLMErrors';
import type { FlowOutcome, RefusalReason, TicketInfo } from '../../business/providers/application/oauth/OAuthFlow';
import type { OAuthPage } from './renderPage';

export function confirmation({ userName, providerName }: TicketInfo, action: string, ticket: string): OAuthPage {
  return {
    status: 200,
    title: `Connect ${providerName}?`,
    message: `Your ${providerName} account will be connected to the user “${visible(userName)}” of this app. Continue only if that is you and you started this yourself.`,
    confirm: { label: `Connect ${providerName}`, action, fields: { ticket } },
  };
}

/** Without characters that could reorder or hide what follows, and of bounded length. */
function visible(name: string): string {
  const text = name.toWellFormed().replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '');
  return text.length <= 200 ? text : `${text.slice(0, 200).toWellFormed()}…`;
}

/** @param noun what the account is connected to: `provider` */
export function resultPage(outcome: FlowOutcome, noun: string): OAuthPage {
  if (!outcome.connected) return refusalPage(outcome, noun);
  return {
    status: 200,
    title: 'Connected',
    message: `Your ${outcome.providerName} account is connected. You can close this page.`,
  };
}

const REFUSALS = {
  'unknown-state': [
    400,
    'Unknown connection',
    'This page does not belong to a connection that was started here. Please start again.',
  ],
  'state-used-again': [
    400,
    'This page has already been used',
    'A connection can be completed only once. If yours did not work, please start again.',
  ],
  'state-expired': [400, 'The connection has expired', 'It was started more than ten minutes ago. Please start again.'],
  'other-browser': [
    403,
    'Different browser',
    'The connection was started in another browser, or its cookie was deleted. Please start again in this browser.',
  ],
  'other-user': [403, 'Different user', 'This connection was started by another user of this app.'],
  'provider-changed': [409, 'The NOUN has changed', 'Its settings were changed in the meantime. Please start again.'],
  'not-allowed': [403, 'You may not use this NOUN', 'It was removed or disabled, or you no longer have access to it.'],
  'refused-by-server': [400, 'Not connected', 'The authorization server rejected the request.'],
  'server-unreachable': [502, 'Not connected', 'The authorization server can’t be reached. Please try again later.'],
} as const satisfies Record<RefusalReason, readonly [status: number, title: string, message: string]>;

export function refusalPage(
  { reason, providerName, detail }: Omit<Extract<FlowOutcome, { readonly connected: false }>, 'connected'>,
  noun: string,
): OAuthPage {
  const [status, title, message] = REFUSALS[reason];
  return {
    status,
    title: title.replace('NOUN', noun),
    message: providerName === undefined ? message : `${providerName}: ${message}`,
    detail,
  };
}

export const NOT_FOUND: OAuthPage = { status: 404, title: 'Not found', message: 'This page does not exist.' };
export const SIGN_IN: OAuthPage = {
  status: 401,
  title: 'Please sign in',
  message: 'Sign in to the app first, then connect your account there.',
};
export const INVALID_TICKET: OAuthPage = {
  status: 400,
  title: 'This link is no longer valid',
  message: 'Links can be used once, within ten minutes. Please start again from the app.',
};
export const OTHER_ORIGIN: OAuthPage = {
  status: 403,
  title: 'Request rejected',
  message: 'The request was not sent by a page of this app.',
};

export function failurePage(error: unknown): OAuthPage {
  if (isLLMError(error)) return { status: error.httpStatus, title: 'Something went wrong', message: error.message };
  return { status: 500, title: 'Something went wrong', message: 'An internal error occurred. Please try again.' };
}
