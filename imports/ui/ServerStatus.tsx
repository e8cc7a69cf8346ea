/** Whether the server answers. */
import { useEffect, useState } from 'react';

type Status = { readonly state: 'loading' } | { readonly state: 'up' } | { readonly state: 'down'; readonly reason: string };

export function ServerStatus() {
  const [status, setStatus] = useState<Status>({ state: 'loading' });
  useEffect(() => {
    const controller = new AbortController();
    fetch('/health', { signal: controller.signal }).then(
      (response) => setStatus(response.ok ? { state: 'up' } : { state: 'down', reason: `HTTP ${response.status}` }),
      (error: unknown) => {
        if (!controller.signal.aborted) setStatus({ state: 'down', reason: error instanceof Error ? error.message : String(error) });
      },
    );
    return () => controller.abort();
  }, []);
  return (
    <section aria-live="polite">
      <h1>Bolide</h1>
      {status.state === 'loading' && <p>Asking the server…</p>}
      {status.state === 'up' && <p>The server is up; its API answers under /v1.</p>}
      {status.state === 'down' && <p role="alert">The server does not answer: {status.reason}</p>}
    </section>
  );
}
