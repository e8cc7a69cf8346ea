/** Meteor's browser entry. */
import { createRoot } from 'react-dom/client';
import { Meteor } from 'meteor/meteor';
import { ServerStatus } from '../imports/ui/ServerStatus';

Meteor.startup(() => {
  const place = document.getElementById('app');
  if (place !== null) createRoot(place).render(<ServerStatus />);
});
