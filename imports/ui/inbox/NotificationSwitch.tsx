/** Turns notifications of new entries on and off. */
import { useCallback } from 'react';
import { useAction } from '../components/useAction';
import { chooseNotifications, useNotificationChoice } from './notificationChoice';

export function NotificationSwitch() {
  const choice = useNotificationChoice();
  const choose = useAction(useCallback((next: 'on' | 'off') => chooseNotifications(next), []));
  if (choice === 'unsupported') return null;
  if (choice === 'blocked') return <p className="muted inbox-hint">This browser blocks notifications of this site.</p>;
  return (
    <button
      type="button"
      className="button"
      aria-pressed={choice === 'on'}
      onClick={() => choose.run(choice === 'on' ? 'off' : 'on')}
      disabled={choose.isBusy}
    >
      {choice === 'on' ? 'Notifications on' : 'Notify me'}
    </button>
  );
}
