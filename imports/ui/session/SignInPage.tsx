/** The door: a token in plain Node, a password under Meteor. */
import { useId, useState } from 'react';
import type { FormEvent } from 'react';
import type { Credentials } from '../data/DashboardData';
import { useData } from '../data/DataContext';
import { useAction } from '../components/useAction';
import { Logo } from '../shell/Logo';

export function SignInPage({ means }: { readonly means: Credentials['means'] }) {
  const { commands } = useData();
  const signIn = useAction(commands.signIn);
  const [login, setLogin] = useState('');
  const [secret, setSecret] = useState('');
  const id = useId();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    signIn.run(means === 'token' ? { means, token: secret.trim() } : { means, login: login.trim(), password: secret });
  };
  return (
    <main className="alone">
      <form className="card sign-in" onSubmit={submit} aria-busy={signIn.isBusy}>
        <Logo />
        <h1>Sign in to Bolide</h1>
        <p className="muted">
          {means === 'token'
            ? 'Paste the API token that the server printed when it started.'
            : 'With the account that you have in this app.'}
        </p>
        {means === 'password' && (
          <label htmlFor={`${id}-login`} className="field">
            <span>User name or e-mail address</span>
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
          <span>{means === 'token' ? 'API token' : 'Password'}</span>
          <input
            id={`${id}-secret`}
            type="password"
            value={secret}
            onChange={(event) => setSecret(event.target.value)}
            autoComplete="current-password"
            required
          />
        </label>
        {signIn.error !== undefined && (
          <p className="form-error" role="alert">
            {signIn.error}
          </p>
        )}
        <button type="submit" className="button button-primary" disabled={signIn.isBusy}>
          {signIn.isBusy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}
