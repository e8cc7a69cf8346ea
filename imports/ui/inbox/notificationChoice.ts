/** Whether this browser notifies of new entries: it must permit it, and someone must have asked for it here. */
import { useSyncExternalStore } from 'react';
import { StoredText } from '../components/StoredText';

export type NotificationChoice = 'unsupported' | 'blocked' | 'off' | 'on';

const stored = new StoredText('bolide-notifications', 'off');

export function useNotificationChoice(): NotificationChoice {
  return useSyncExternalStore(stored.subscribe, read, () => 'unsupported');
}

/** Asks for the permission if necessary, as a browser allows only upon a click. */
export async function chooseNotifications(choice: 'on' | 'off'): Promise<void> {
  if (choice === 'on' && Notification.permission === 'default') await Notification.requestPermission();
  stored.write(choice);
}

function read(): NotificationChoice {
  if (!('Notification' in window)) return 'unsupported';
  if (Notification.permission === 'denied') return 'blocked';
  return Notification.permission === 'granted' && stored.read() === 'on' ? 'on' : 'off';
}
