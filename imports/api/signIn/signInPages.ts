/** The pages of `/sign-in`: what they say about each outcome. */
import type { OAuthPage } from '../oauth/renderPage';
import type { SignInRefusal, SignInRefused } from './SignInFlow';

const REFUSALS = {
  'unknown-state': [400, 'Unknown sign-in', 'This page does not belong to a sign-in that was started here.'],
  'other-browser': [
    403,
    'Different browser',
    'The sign-in was started in another browser or more than ten minutes ago, another one was started since, or its cookie was deleted.',
  ],
  'state-expired': [400, 'The sign-in has expired', 'It was started more than ten minutes ago.'],
  'state-used-again': [400, 'This page has already been used', 'A sign-in can be completed only once.'],
  'refused-by-server': [403, 'Not signed in', 'The sign-in was denied or cancelled.'],
  'invalid-response': [502, 'Not signed in', 'The response cannot be trusted, so it was not accepted.'],
  'server-unreachable': [502, 'Not signed in', 'It can’t be reached. Please try again later.'],
  'email-not-verified': [
    403,
    'You may not sign in here',
    'Your e-mail address is not verified there, or it was not given to this server.',
  ],
  'not-allowed': [403, 'You may not sign in here', 'Whoever operates this server has not admitted you. Ask them to.'],
} as const satisfies Record<SignInRefusal, readonly [status: number, title: string, message: string]>;

/** @param name of the OpenID provider */
export function refusalPage({ refusal, userId, detail }: SignInRefused, name: string): OAuthPage {
  const [status, title, message] = REFUSALS[refusal];
  const who = userId === undefined ? '' : ` You are known here as “${userId}”.`;
  return { status, title, message: `${name}: ${message}${who}`, detail };
}

/** A page of another site has sent the browser here: it goes on only if the user wants to. */
export function askPage(name: string): OAuthPage {
  return {
    status: 200,
    title: `Sign in with ${name}?`,
    message: 'You came here from another site. A session that you have in this browser will be replaced.',
  };
}

export const MISCONFIGURED: OAuthPage = {
  status: 500,
  title: 'Nobody can sign in here now',
  message: 'The sign-in of this server is not set up correctly. Its log says what is wrong.',
};
