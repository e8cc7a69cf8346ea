/** Signs in: with an API token or at an OpenID provider under plain Node, with a password under Meteor. */
import { useEffect, useId, useRef, useState } from 'react';
import type { SyntheticEvent } from 'react';
import type { Credentials, SessionCommands, OpenIdLink } from '../data/DashboardData';
import { useAction } from '../components/useAction';
import { Logo } from '../shell/Logo';

interface SignInPageProps {
  readonly signIn: SessionCommands['signIn'];
  /** Called when somebody begins to fill in the form. */
  readonly onBegin: () => void;
  readonly method: Credentials['method'];
  readonly openId?: OpenIdLink | undefined;
}

export function SignInPage({ openId, ...form }: SignInPageProps) {
  return (
    <main className="centered-page">
      <div className="card sign-in">
        <Logo />
        <h1>Sign in to Bolide</h1>
        {openId !== undefined && (
          <a className="button button-primary" href={openId.url}>
            {`Sign in with ${openId.name}`}
          </a>
        )}
        {openId?.isOnly !== true && <CredentialsForm {...form} isSecondary={openId !== undefined} />}
      </div>
    </main>
  );
}

interface CredentialsFormProps extends Omit<SignInPageProps, 'openId'> {
  /** Whether most people sign in another way. */
  readonly isSecondary: boolean;
}

function CredentialsForm({ method, isSecondary, onBegin, ...commands }: CredentialsFormProps) {
  const signIn = useAction(commands.signIn);
  const [login, setLogin] = useState('');
  const [secret, setSecret] = useState('');
  const id = useId();
  const secretField = useRef<HTMLInputElement>(null);
  const { error } = signIn;
  useEffect(() => {
    if (error === undefined) return;
    secretField.current?.focus();
    secretField.current?.select();
  }, [error]);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    signIn.run(
      method === 'token' ? { method, token: secret.trim() } : { method, login: login.trim(), password: secret },
    );
  };
  return (
    <form
      className={isSecondary ? 'sign-in-other' : undefined}
      onInput={onBegin}
      onSubmit={submit}
      aria-busy={signIn.isBusy}
    >
      <p className="muted">
        {method === 'token'
          ? isSecondary
            ? 'Or paste an API token.'
            : 'Paste the API token that the server printed at startup.'
          : 'Use your account in this app.'}
      </p>
      {method === 'password' && (
        <label htmlFor={`${id}-login`} className="field">
          <span>Username or email</span>
          <input
            id={`${id}-login`}
            value={login}
            onChange={(event) => setLogin(event.target.value)}
            autoComplete="username"
            autoCapitalize="none"
            required
          />
        </label>
      )}
      <label htmlFor={`${id}-secret`} className="field">
        <span>{method === 'token' ? 'API token' : 'Password'}</span>
        <input
          ref={secretField}
          id={`${id}-secret`}
          type="password"
          value={secret}
          onChange={(event) => setSecret(event.target.value)}
          autoComplete="current-password"
          aria-invalid={error !== undefined}
          aria-describedby={error === undefined ? undefined : `${id}-error`}
          required
        />
      </label>
      {error !== undefined && (
        <p id={`${id}-error`} className="form-error" role="alert">
          {error}
        </p>
      )}
      <button type="submit" className={isSecondary ? 'button' : 'button button-primary'} disabled={signIn.isBusy}>
        {signIn.isBusy ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  );
}
