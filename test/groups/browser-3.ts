import { runAreas } from '../groups.ts';

runAreas(['browser', 'client'], 3, 3);
